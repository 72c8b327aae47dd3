// Reads the server's certificate and private key from their files and checks that they work as a pair. Knows
// nothing about HTTP libraries.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";

/** PEM files. The first certificate is the server's; intermediate certificates may follow. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificatePair {
  readonly files: CertificateFiles;
  readonly certificate: string;
  readonly key: string;
  /** The certificate's expiry, in OpenSSL's notation. */
  readonly validTo: string;
}

export const TLS_VERSION_MIN = "TLSv1.2";

/**
 * Throws an Error with a one-sentence message if a file is unreadable or if TLS cannot use the files as a
 * pair.
 */
export function readCertificate(files: CertificateFiles): CertificatePair {
  const certificate = contentOf(files.certificate, "the certificate");
  const key = contentOf(files.key, "the private key");
  const parsed = parsedAs(
    () => new X509Certificate(certificate),
    `the file ${files.certificate} contains no PEM certificate`,
  );
  const parsedKey = parsedAs(
    () => createPrivateKey(key),
    `the file ${files.key} contains no unencrypted PEM private key`,
  );
  if (!parsed.checkPrivateKey(parsedKey)) {
    throw new Error(`the private key in ${files.key} does not match the certificate in ${files.certificate}`);
  }
  // OpenSSL may refuse a pair for reasons other than a mismatch: for example, the key may be too short.
  parsedAs(
    () => createSecureContext({ cert: certificate, key, minVersion: TLS_VERSION_MIN }),
    `the certificate in ${files.certificate} cannot be used`,
  );
  return { files, certificate, key, validTo: parsed.validTo };
}

function contentOf(file: string, what: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`cannot read ${what} ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
}

function parsedAs<T>(parse: () => T, otherwise: string): T {
  try {
    return parse();
  } catch (error) {
    throw new Error(`${otherwise}: ${(error as Error).message}`, { cause: error });
  }
}

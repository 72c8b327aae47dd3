// Certificate and key: which pairs are refused, and with which error message.
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readCertificate } from "../../../../../server/access/edge/certificate.js";
import { FIRST_PAIR, SECOND_PAIR } from "../../../../e2e/world/certificates.js";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "skein-certificate-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function read(certificate: string | null, key: string | null) {
  const files = { certificate: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  for (const [file, content] of [
    [files.certificate, certificate],
    [files.key, key],
  ] as const) {
    rmSync(file, { force: true });
    if (content !== null) writeFileSync(file, content);
  }
  return readCertificate(files);
}

test("a pair is read, also with additional certificates", () => {
  const { certificate, key } = FIRST_PAIR;
  expect(read(certificate, key)).toMatchObject({ certificate, key, validTo: expect.stringMatching(/GMT$/) });
  expect(read(certificate + SECOND_PAIR.certificate, key).key).toBe(key);
});

const passphrase = generateKeyPairSync("ec", {
  namedCurve: "P-256",
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" },
}).privateKey;

test.each<[string, string | null, string | null, RegExp]>([
  ["no certificate", null, FIRST_PAIR.key, /^cannot read the certificate \S+cert.pem \(ENOENT\)$/],
  ["no key", FIRST_PAIR.certificate, null, /^cannot read the private key \S+key.pem \(ENOENT\)$/],
  ["an empty certificate", "", FIRST_PAIR.key, /^the file \S+cert.pem contains no PEM certificate: /],
  ["the key as certificate", FIRST_PAIR.key, FIRST_PAIR.key, /contains no PEM certificate: /],
  [
    "the certificate as key",
    FIRST_PAIR.certificate,
    FIRST_PAIR.certificate,
    /^the file \S+key.pem contains no unencrypted PEM private key: /,
  ],
  [
    "a key with a passphrase",
    FIRST_PAIR.certificate,
    passphrase,
    /contains no unencrypted PEM private key: /,
  ],
  [
    "the key of another certificate",
    FIRST_PAIR.certificate,
    SECOND_PAIR.key,
    /^the private key in \S+key.pem does not match the certificate in \S+cert.pem$/,
  ],
  [
    "a broken additional certificate",
    `${FIRST_PAIR.certificate}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
    FIRST_PAIR.key,
    /^the certificate in \S+cert.pem cannot be used: /,
  ],
])("%s is refused", (_what, certificate, key, message) => {
  expect(() => read(certificate, key)).toThrow(message);
});

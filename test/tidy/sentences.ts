// Finds the user-visible error messages that violate the style in CONTRIBUTING.md.
import ts from "typescript";
import { parse } from "./names.js";
import type { Source } from "./tree.js";

/** Errors whose message reaches a client or a command-line user. */
const ERROR =
  /^(Skein|ShardEnded|Config|Backup|Cli|Input|InvalidArgument|DataDirLocked|OtherVersion|Feed|Passing)Error$/;
/** Functions that create or throw such an error even though their return type does not say so. */
const REFUSING = /^(refuse|wrongType|answer)$/;
/** A plain word with an initial capital: `A record`, but not `JSON` or `X-Skein-Tenant`. */
const CAPITAL = /^(?!Skein\b)[A-Z][a-z]*[ ,;]/;
const SEVERAL = /[a-z)'"`]\. [A-Z]|[^.][.!]$/;

/**
 * Returns "path:line message" for each message that starts or ends like prose or consists of several
 * sentences.
 */
export function otherVoices(sources: readonly Source[]): string[] {
  const makers = new Set(sources.flatMap(errorMakers));
  return sources.flatMap((source) => {
    const file = parse(source);
    const wrong: string[] = [];
    const visit = (node: ts.Node): void => {
      for (const { at, text } of saidBy(node, makers)) {
        if (!CAPITAL.test(text) && !SEVERAL.test(text)) continue;
        wrong.push(`${source.path}:${file.getLineAndCharacterOfPosition(at).line + 1} ${text}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
    return wrong;
  });
}

/** Returns the names of the source's functions whose return type is such an error. */
function errorMakers(source: Source): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if ((ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) && node.name && node.type)
      if (ERROR.test(node.type.getText())) names.push(node.name.getText());
    ts.forEachChild(node, visit);
  };
  visit(parse(source));
  return names;
}

/**
 * Returns texts of more than one word that are a body's `error` member, or an argument to an error's
 * constructor or to a function that creates an error.
 */
function saidBy(node: ts.Node, makers: ReadonlySet<string>): { at: number; text: string }[] {
  if (ts.isPropertyAssignment(node)) return node.name.getText() === "error" ? textsIn(node.initializer) : [];
  if (!ts.isNewExpression(node) && !ts.isCallExpression(node)) return [];
  const called = node.expression;
  const name = ts.isPropertyAccessExpression(called) ? called.name.text : called.getText();
  const makes = ts.isNewExpression(node) ? ERROR.test(name) : makers.has(name) || REFUSING.test(name);
  return makes || name === "super" ? (node.arguments ?? []).flatMap(textsIn) : [];
}

/** Returns the literals in an argument. In a template, `x` replaces each interpolated part. */
function textsIn(node: ts.Node): { at: number; text: string }[] {
  const at = node.getStart();
  if (ts.isStringLiteralLike(node)) return node.text.includes(" ") ? [{ at, text: node.text }] : [];
  if (ts.isTemplateExpression(node)) {
    const text = node.head.text + node.templateSpans.map(({ literal }) => `x${literal.text}`).join("");
    return text.includes(" ") ? [{ at, text }] : [];
  }
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse].flatMap(textsIn);
  return ts.isParenthesizedExpression(node) ? textsIn(node.expression) : [];
}

// Finds module-level variables that are state: all `let` and `var`, constants that are instances of classes
// not known to be stateless, and constants whose object a function modifies.
import ts from "typescript";
import { importedNames, parse } from "./names.js";
import type { Source } from "./tree.js";

/** Methods that modify their object. */
const CHANGING =
  /^(push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin|set|add|delete|clear|append|setPrototypeOf|assign)$/;
/**
 * Classes that a module may instantiate. They are either immutable, or collections whose modifications are
 * detected separately.
 */
const STATELESS =
  /^(RegExp|TextEncoder|URL|Intl\.\w+|(Weak)?(Map|Set)|Array|ArrayBuffer|DataView|\w+(8|16|32|64)(Clamped)?Array)$/;

/** Returns "path name" for each module-level variable that is, or may be, changed after loading. */
export function moduleState(sources: readonly Source[]): string[] {
  const state = new Set<string>();
  const names = new Map(sources.map((source) => [source.path, moduleConstants(source, state)]));
  for (const source of sources) {
    const known = new Map([...names.get(source.path)!].map((name) => [name, source.path]));
    for (const taken of importedNames(source)) {
      const [path, name] = taken.split("#") as [string, string];
      if (names.get(path)?.has(name)) known.set(name, path);
    }
    const visit = (node: ts.Node, inFunction: boolean): void => {
      const name = inFunction ? changedName(node) : undefined;
      if (name !== undefined && known.has(name)) state.add(`${known.get(name)} ${name}`);
      ts.forEachChild(node, (child) => visit(child, inFunction || ts.isFunctionLike(node)));
    };
    visit(parse(source), false);
  }
  return [...state];
}

/**
 * Adds to `state` the variables that are state by declaration: `let` and `var`, and instances of classes not
 * in STATELESS. Returns the other variables' names.
 */
function moduleConstants(source: Source, state: Set<string>): Set<string> {
  const constants = new Set<string>();
  for (const statement of parse(source).statements.filter(ts.isVariableStatement)) {
    const { flags, declarations } = statement.declarationList;
    for (const { name, initializer } of declarations) {
      const made = initializer !== undefined && ts.isNewExpression(initializer) ? initializer : undefined;
      if (!(flags & ts.NodeFlags.Const) || (made && !STATELESS.test(made.expression.getText())))
        state.add(`${source.path} ${name.getText()}`);
      else constants.add(name.getText());
    }
  }
  return constants;
}

/** Returns the variable whose object the node changes: `name.member = 1`, `name[0]++`, `name.push(1)`. */
function changedName(node: ts.Node): string | undefined {
  let place: ts.Node | undefined;
  if (ts.isBinaryExpression(node) && isAssignment(node.operatorToken.kind)) place = node.left;
  else if (ts.isDeleteExpression(node)) place = node.expression;
  else if ((ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) && isStep(node.operator))
    place = node.operand;
  else if (
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    CHANGING.test(node.expression.name.text)
  )
    place = node.expression;
  if (place === undefined || ts.isIdentifier(place)) return undefined;
  while (
    ts.isPropertyAccessExpression(place) ||
    ts.isElementAccessExpression(place) ||
    ts.isNonNullExpression(place)
  )
    place = place.expression;
  return ts.isIdentifier(place) ? place.text : undefined;
}

function isAssignment(kind: ts.SyntaxKind): boolean {
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

function isStep(operator: ts.SyntaxKind): boolean {
  return operator === ts.SyntaxKind.PlusPlusToken || operator === ts.SyntaxKind.MinusMinusToken;
}

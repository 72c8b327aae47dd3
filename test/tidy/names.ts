// Which names a file offers, which it takes from other files, and which variables of a module are state.
import ts from "typescript";
import { resolveImport, type Source } from "./tree.js";

/** "path#name" for every name taken from a file of the repository; "path#*" for a whole namespace. */
export function importedNames(source: Source): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier) {
      const specifier = (node.moduleSpecifier as ts.StringLiteral).text;
      if (!specifier.startsWith(".")) return;
      const target = resolveImport(source.path, specifier);
      const bindings = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause;
      if (ts.isImportDeclaration(node) && node.importClause?.name) names.push(`${target}#default`);
      if (bindings && (ts.isNamedImports(bindings) || ts.isNamedExports(bindings))) {
        for (const element of bindings.elements) {
          names.push(`${target}#${(element.propertyName ?? element.name).text}`);
        }
      } else if (bindings || ts.isExportDeclaration(node)) names.push(`${target}#*`);
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const argument = node.arguments[0];
      if (argument && ts.isStringLiteral(argument))
        names.push(`${resolveImport(source.path, argument.text)}#*`);
    }
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      const literal = node.argument.literal as ts.StringLiteral;
      names.push(`${resolveImport(source.path, literal.text)}#*`);
    }
    ts.forEachChild(node, visit);
  };
  visit(parse(source));
  return names;
}

/**
 * Names that a file offers. Left out: default exports (workers started by URL), the numbers of layout.ts (the
 * whole set is the format), and types that the same file uses elsewhere: they name parts of a signature.
 */
export function exportedNames(source: Source): string[] {
  if (source.path === "engine-wasm/assembly/layout.ts") return [];
  const names: string[] = [];
  for (const statement of parse(source).statements) {
    if (
      ts.isExportDeclaration(statement) &&
      statement.exportClause &&
      ts.isNamedExports(statement.exportClause)
    ) {
      names.push(...statement.exportClause.elements.map((element) => element.name.text));
    }
    const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
    const has = (kind: ts.SyntaxKind): boolean =>
      modifiers?.some((modifier) => modifier.kind === kind) ?? false;
    if (!has(ts.SyntaxKind.ExportKeyword) || has(ts.SyntaxKind.DefaultKeyword)) continue;
    if (ts.isVariableStatement(statement)) {
      for (const declaration of statement.declarationList.declarations)
        names.push(declaration.name.getText());
    } else if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) {
      const mentions = source.text.match(new RegExp(`\\b${statement.name.text}\\b`, "g"))?.length ?? 0;
      if (mentions === 1) names.push(statement.name.text);
    } else if (
      ts.isFunctionDeclaration(statement) ||
      ts.isClassDeclaration(statement) ||
      ts.isEnumDeclaration(statement)
    ) {
      if (statement.name) names.push(statement.name.text);
    }
  }
  return names;
}

const trees = new WeakMap<Source, ts.SourceFile>();

function parse(source: Source): ts.SourceFile {
  const tree =
    trees.get(source) ?? ts.createSourceFile(source.path, source.text, ts.ScriptTarget.ES2023, true);
  trees.set(source, tree);
  return tree;
}

/** Names that a file declares and exports, types and interfaces included. */
export function declaredNames(source: Source): string[] {
  return parse(source).statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    const has = (kind: ts.SyntaxKind): boolean => modifiers.some((modifier) => modifier.kind === kind);
    if (!has(ts.SyntaxKind.ExportKeyword) || has(ts.SyntaxKind.DefaultKeyword)) return [];
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.map((declaration) => declaration.name.getText());
    }
    const { name } = statement as ts.DeclarationStatement;
    return name === undefined ? [] : [name.getText()];
  });
}

/** Methods that change what they are called on. */
const CHANGING =
  /^(push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin|set|add|delete|clear|append|setPrototypeOf|assign)$/;
/** What `new` may make for a module: values, and collections, which are watched for changes instead. */
const STATELESS =
  /^(RegExp|TextEncoder|URL|Intl\.\w+|(Weak)?(Map|Set)|Array|ArrayBuffer|DataView|\w+(8|16|32|64)(Clamped)?Array)$/;

/** "path name" for every variable of a module that is changed after the module was loaded, or may be. */
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

/** Adds to `state` what holds state by its kind: `let`, and objects made with `new`. Answers with the constants. */
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

/** The variable whose object the node changes: `name.member = 1`, `name[0]++`, `name.push(1)`. */
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

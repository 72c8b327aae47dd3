// A file's exported and imported names.
import ts from "typescript";
import { resolveImport, type Source } from "./tree.js";

/**
 * Returns "path#name" for each name imported from a file in the repository; "path#*" for a whole namespace.
 */
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
 * Returns a file's exported names. Excludes default exports (workers started by URL), the numbers in
 * layout.ts (the format as a whole), and types that the same file also uses elsewhere, because they are part
 * of a signature.
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

export function parse(source: Source): ts.SourceFile {
  const tree =
    trees.get(source) ?? ts.createSourceFile(source.path, source.text, ts.ScriptTarget.ES2023, true);
  trees.set(source, tree);
  return tree;
}

/** Returns the names that a file both declares and exports, including types and interfaces. */
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

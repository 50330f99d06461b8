// Imported dynamically. In a bundle a dynamic import of the package itself, a CommonJS module, has no named exports.
export { isScalar, parse as parseYaml, parseAllDocuments, parseDocument, visit } from 'yaml';

/**
 * Reads the YAML that Flux releases are written in: block mappings and sequences, block and quoted scalars, as
 * kustomize prints them. In a fresh process the `yaml` package takes 150 to 400 ms for the core components of a release
 * and this takes 15 ms; a change has 300 ms in all.
 * @returns the documents, or undefined for anything out of this plain subset: then a whole YAML parser has to read it
 */
export function readPlainYaml(text: string): unknown[] | undefined {
  if (/\r|^ +$/m.test(text)) return undefined;
  try {
    const documents = text.split(/^---(?: *)$\n?/m).filter((part) => /^[^#\s]/m.test(part));
    return documents.map(readDocument);
  } catch (error) {
    if (error === beyond) return undefined;
    throw error;
  }
}

/** Thrown where the text leaves the subset. */
const beyond = Symbol('beyond plain YAML');

/** The lines of a document and how far it has been read. */
interface Reader {
  lines: string[];
  at: number;
}

function readDocument(text: string): unknown {
  const reader: Reader = { lines: text.split('\n'), at: 0 };
  while (/^(#.*)?$/.test(reader.lines[reader.at] ?? '-')) reader.at++;
  const value = readNode(reader, 0);
  if (typeof value !== 'object' || nextIndent(reader) !== -1) throw beyond;
  return value;
}

/** Skips blank lines; the indentation of the next line, -1 at the end. */
function nextIndent(reader: Reader): number {
  for (; reader.at < reader.lines.length; reader.at++) {
    const line = reader.lines[reader.at] ?? '';
    const indent = indentOf(line);
    if (indent < line.length) return indent;
  }
  return -1;
}

function indentOf(line: string): number {
  let indent = 0;
  while (line.charCodeAt(indent) === 32) indent++;
  return indent;
}

/** The node whose first line is at `reader.at`, indented by exactly `indent`. */
function readNode(reader: Reader, indent: number): unknown {
  const line = reader.lines[reader.at] ?? '';
  if (isItem(line, indent)) return readSequence(reader, indent);
  if (keyOf(line, indent) !== undefined) return readMapping(reader, indent);
  return readScalar(reader, indent, indent - 1);
}

function isItem(line: string, indent: number): boolean {
  return line[indent] === '-' && (line[indent + 1] === ' ' || line.length === indent + 1);
}

function readSequence(reader: Reader, indent: number): unknown[] {
  const items: unknown[] = [];
  while (nextIndent(reader) === indent) {
    const line = reader.lines[reader.at] ?? '';
    if (!isItem(line, indent)) break;
    if (line.length === indent + 1) throw beyond;
    // The dash counts as indentation of what follows it.
    reader.lines[reader.at] = `${' '.repeat(indent + 2)}${line.slice(indent + 2)}`;
    if (nextIndent(reader) !== indent + 2) throw beyond;
    items.push(readNode(reader, indent + 2));
  }
  return items;
}

function readMapping(reader: Reader, indent: number): Record<string, unknown> {
  const mapping: Record<string, unknown> = {};
  while (nextIndent(reader) === indent) {
    const line = reader.lines[reader.at] ?? '';
    if (isItem(line, indent)) break;
    const key = keyOf(line, indent);
    if (key === undefined || key.name === '__proto__' || Object.hasOwn(mapping, key.name)) throw beyond;
    mapping[key.name] = key.end < line.length ? readScalar(reader, key.end + 1, indent) : readNested(reader, indent);
  }
  return mapping;
}

/** What follows a key without a value on its line; a sequence may stand at the key's own indentation. */
function readNested(reader: Reader, indent: number): unknown {
  reader.at++;
  const next = nextIndent(reader);
  if (next > indent) return readNode(reader, next);
  return next === indent && isItem(reader.lines[reader.at] ?? '', next) ? readSequence(reader, next) : null;
}

/** The key that a line begins with, and where its colon ends; undefined when the line has none. */
function keyOf(line: string, indent: number): { name: string; end: number } | undefined {
  const first = line[indent] ?? '';
  if (first === '"' || first === "'") {
    const close = closingQuote(line, indent + 1, first);
    if (close === -1 || line[close + 1] !== ':') return undefined;
    const name = unquote([line.slice(indent + 1, close)], first);
    return colonEnds(line, close + 1) ? { name, end: close + 2 } : undefined;
  }
  let colon = line.indexOf(':', indent);
  while (colon !== -1 && !colonEnds(line, colon)) colon = line.indexOf(':', colon + 1);
  if (colon === -1) return undefined;
  const name = line.slice(indent, colon);
  if (!/^[A-Za-z_./$][\w./$-]*$/.test(name) || typeof plainValue(name) !== 'string') throw beyond;
  return { name, end: colon + 1 };
}

function colonEnds(line: string, colon: number): boolean {
  return colon + 1 === line.length || line[colon + 1] === ' ';
}

/** The scalar that begins in the current line at `start`; `parent` is the indentation that its other lines exceed. */
function readScalar(reader: Reader, start: number, parent: number): unknown {
  const line = reader.lines[reader.at] ?? '';
  const text = line.slice(start);
  const first = text[0] ?? '';
  if (first === '|') return readBlock(reader, text, parent);
  if (first === '"' || first === "'") return readQuoted(reader, start, first, parent);
  reader.at++;
  if (text === '{}') return {};
  if (text === '[]') return [];
  // What else has a meaning of its own at the start of a scalar: flow collections, anchors, tags, folded blocks, …
  if (text === '' || /^[[\]{}>&*!%@`,#?\s]|^- /.test(text)) throw beyond;
  const lines = [text, ...plainContinuation(reader, parent)];
  if (lines.some((part) => /: |:$| #|^#|\t/.test(part) || part.endsWith(' '))) throw beyond;
  return lines.length === 1 ? plainValue(text) : fold(lines);
}

/** The further lines of a plain scalar: whatever is indented more than its parent. */
function plainContinuation(reader: Reader, parent: number): string[] {
  const lines: string[] = [];
  for (let at = reader.at; at < reader.lines.length; at++) {
    const line = reader.lines[at] ?? '';
    const indent = indentOf(line);
    if (indent < line.length && indent <= parent) break;
    lines.push(line.slice(indent));
    if (indent < line.length) reader.at = at + 1;
    else if (nextAfter(reader, at) <= parent) break;
  }
  while (lines.at(-1) === '') lines.pop();
  return lines;
}

/** The indentation of the next line with text after `at`, -1 at the end. */
function nextAfter(reader: Reader, at: number): number {
  return nextIndent({ lines: reader.lines, at });
}

/** `|` and `|-`: the lines as they are. */
function readBlock(reader: Reader, header: string, parent: number): string {
  if (header !== '|' && header !== '|-') throw beyond;
  const indent = nextAfter(reader, reader.at + 1);
  if (indent <= parent) throw beyond;
  const lines: string[] = [];
  for (reader.at++; reader.at < reader.lines.length; reader.at++) {
    const line = reader.lines[reader.at] ?? '';
    const own = indentOf(line);
    if (own < line.length && own < indent) break;
    lines.push(line.slice(indent));
  }
  while (lines.at(-1) === '') lines.pop();
  return lines.join('\n') + (header === '|' ? '\n' : '');
}

function readQuoted(reader: Reader, start: number, quote: string, parent: number): string {
  const lines: string[] = [];
  for (let from = start + 1; reader.at < reader.lines.length; from = 0) {
    const line = reader.lines[reader.at++] ?? '';
    if (from === 0 && line !== '' && indentOf(line) <= parent) throw beyond;
    const close = closingQuote(line, from, quote);
    if (close === -1) {
      lines.push(line.slice(from));
    } else {
      if (close + 1 !== line.length) throw beyond;
      lines.push(line.slice(from, close));
      return unquote(lines, quote);
    }
  }
  throw beyond;
}

/** Where the quote closes in this line, or -1. */
function closingQuote(line: string, from: number, quote: string): number {
  for (let at = from; at < line.length; at++) {
    if (quote === '"' && line[at] === '\\') at++;
    else if (line[at] === quote && quote === "'" && line[at + 1] === "'") at++;
    else if (line[at] === quote) return at;
  }
  return -1;
}

function unquote(lines: string[], quote: string): string {
  if (lines.length > 1 && (lines[0] === '' || lines.at(-1)?.trim() === '')) throw beyond;
  const trimmed = lines.map((line, index) => {
    // A backslash at the end of a line joins it to the next in another way.
    if (line.includes('\t') || (index < lines.length - 1 && line.endsWith('\\'))) throw beyond;
    const start = index === 0 ? line : line.trimStart();
    return index === lines.length - 1 ? start : start.trimEnd();
  });
  return quote === "'" ? fold(trimmed).replaceAll("''", "'") : unescaped(fold(trimmed));
}

/** One line break becomes a space; of several, the first is dropped. */
function fold(lines: string[]): string {
  let text = lines[0] ?? '';
  let breaks = 0;
  for (const line of lines.slice(1)) {
    breaks++;
    if (line === '') continue;
    text += (breaks === 1 ? ' ' : '\n'.repeat(breaks - 1)) + line;
    breaks = 0;
  }
  return text;
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', '"': '"', '\\': '\\', '/': '/', ' ': ' ' };

function unescaped(text: string): string {
  return text.replace(/\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.?)/gs, (_, name: string) => {
    const code = name.length > 1 ? String.fromCharCode(Number.parseInt(name.slice(1), 16)) : escapes[name];
    if (code === undefined) throw beyond;
    return code;
  });
}

const words: Record<string, unknown> = { true: true, false: false, null: null, '~': null };

/** YAML 1.2 core schema; what other schemas read otherwise is left to them. */
function plainValue(text: string): unknown {
  // Nearly all are texts: whatever means something else begins with no letter or is shorter than this.
  if (text.length > 5 && /^[A-Za-z]/.test(text)) return text;
  if (Object.hasOwn(words, text)) return words[text];
  if (/^-?(0|[1-9]\d*)(\.\d+)?$/.test(text)) return Number(text);
  if (/^[-+.\d]/.test(text) && /^[-+]?(\.?\d|0[ox]|\.(inf|nan)$)/i.test(text) && !/[^\d.eE+_oxa-fA-F-]/.test(text)) {
    throw beyond;
  }
  if (/^(true|false|null|yes|no|on|off|y|n|[-+]?\.inf|\.nan)$/i.test(text)) throw beyond;
  return text;
}

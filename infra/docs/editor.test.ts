import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { documents, root } from '../../test/integration/documents.ts';

/** The language server behind the YAML extensions of editors, over standard input and output. */
const folder = dirname(createRequire(import.meta.url).resolve('yaml-language-server/package.json'));
const server = spawn(process.execPath, [join(folder, 'bin/yaml-language-server'), '--stdio']);
afterAll(() => server.kill());

interface Message {
  id?: number;
  method?: string;
  params?: { uri?: string; diagnostics?: { message: string; range: { start: { line: number } } }[] };
  result?: unknown;
}

const waiting: { isIt: (message: Message) => boolean; resolve: (message: Message) => void }[] = [];
let received = Buffer.alloc(0);
server.stdout.on('data', (chunk: Buffer) => {
  received = Buffer.concat([received, chunk]);
  for (;;) {
    const end = received.indexOf('\r\n\r\n');
    const length = Number(/Content-Length: (\d+)/.exec(received.subarray(0, end).toString())?.[1]);
    if (end === -1 || received.length < end + 4 + length) return;
    const message: Message = JSON.parse(received.subarray(end + 4, end + 4 + length).toString());
    received = received.subarray(end + 4 + length);
    // Its own requests, such as for the settings of the editor, get no answer that it needs.
    if (message.method !== undefined && message.id !== undefined) send({ id: message.id, result: null });
    else for (const { resolve } of waiting.filter(({ isIt }) => isIt(message))) resolve(message);
  }
});

function send(message: object): void {
  const content = JSON.stringify({ jsonrpc: '2.0', ...message });
  server.stdin.write(`Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`);
}

const answer = (isIt: (message: Message) => boolean) =>
  new Promise<Message>((resolve) => waiting.push({ isIt, resolve }));

const started = answer(({ id }) => id === 1);
send({ id: 1, method: 'initialize', params: { processId: process.pid, rootUri: null, capabilities: {} } });
await started;
send({ method: 'initialized', params: {} });
// Without the catalogue of schemas in the internet.
const yaml = { schemaStore: { enable: false }, validate: true, completion: true };
send({ method: 'workspace/didChangeConfiguration', params: { settings: { yaml } } });

let opened = 0;

/** Opens a document, and returns what the editor underlines: `line: message`. */
async function underlined(text: string): Promise<string[]> {
  const uri = `file:///project/${++opened}.yaml`;
  const found = answer(({ method, params }) => method === 'textDocument/publishDiagnostics' && params?.uri === uri);
  send({ method: 'textDocument/didOpen', params: { textDocument: { uri, languageId: 'yaml', version: 1, text } } });
  const { params } = await found;
  return (params?.diagnostics ?? []).map(({ message, range }) => `${range.start.line + 1}: ${message}`);
}

/** The schema of this checkout in place of a published one. */
const local = (text: string) =>
  text.replace(/^(# yaml-language-server: \$schema=)https:.*\/docs\/(\S+)$/m, `$1file://${root}/docs/$2`);
const comment = (name: string) => `# yaml-language-server: $schema=file://${root}/docs/schemas/${name}.json\n`;

const withComment = documents.flatMap(({ path, fences }) =>
  fences.filter(({ text }) => text.startsWith('# yaml-language-server:')).map(({ text }) => [path, text] as const),
);

test.each(withComment)('an editor finds nothing in the example of %s, and finds a mistake in it', async (_, text) => {
  expect(local(text)).toContain(`file://${root}`);
  expect(await underlined(local(text))).toEqual([]);
  const wrong = local(text).replace('fluxVersion: ', 'fluxVersoin: ');
  expect(await underlined(wrong)).toEqual([expect.stringMatching(/^6: This key is not known here\./)]);
});

test.each([
  ['provider-config', 'flux:\n  logLevel: loud\n', /^3: .*"debug"/],
  ['provider-config', 'flux:\n  logLevel: debug\n  verison: v2.9.4\n', /^4: This key is not known here/],
  ['config', 'kustomization:\n  template:\n    spec:\n      prune: 1\n      path: ./\n', /^5: /],
  ['overrides', '- selector: {}\n  config:\n    syncMode: always\n', /^4: /],
])('an editor underlines the mistake in a file for %s', async (name, text, expected) => {
  expect(await underlined(comment(name) + text)).toEqual([expect.stringMatching(expected)]);
});

test('an editor offers keys with what they mean', async () => {
  const uri = 'file:///project/complete.yaml';
  const text = `${comment('provider-config')}flux:\n  lo`;
  const done = answer(({ id }) => id === 2);
  send({ method: 'textDocument/didOpen', params: { textDocument: { uri, languageId: 'yaml', version: 1, text } } });
  send({
    id: 2,
    method: 'textDocument/completion',
    params: { textDocument: { uri }, position: { line: 2, character: 4 } },
  });
  const { items } = (await done).result as { items: { label: string; documentation: unknown }[] };
  const found = items.find(({ label }) => label === 'logLevel');
  expect(JSON.stringify(found?.documentation)).toContain('The log level of the controllers');
});

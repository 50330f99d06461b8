import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { documents, root } from '../../test/integration/documents.ts';
import { type Statement, VEX, vexFile } from './vex.ts';

/** The example of the page. */
const page = documents.find(({ path }) => path === 'docs/release.md');
const statement: Statement = parse(page?.fences.find(({ language }) => language === 'ts')?.text ?? '');
const later = { ...statement, vulnerability: 'CVE-2099-0002', date: '2099-03-04' };

const documentOf = (...statements: Statement[]) => JSON.parse(vexFile(statements)[VEX] ?? '');

test('statements become a document of OpenVEX, which is as old as its last statement', () => {
  expect(documentOf(later, statement)).toEqual({
    '@context': 'https://openvex.dev/ns/v0.2.0',
    '@id': expect.stringMatching(/^https:\/\/openvex\.dev\/docs\/shoot-flux\/[0-9a-f]{64}$/),
    author: 'The maintainers of shoot-flux',
    timestamp: '2099-03-04T00:00:00.000Z',
    version: 1,
    statements: [
      expect.objectContaining({ vulnerability: { name: 'CVE-2099-0002' }, timestamp: '2099-03-04T00:00:00.000Z' }),
      {
        vulnerability: { name: 'CVE-2099-0001' },
        timestamp: '2099-01-31T00:00:00.000Z',
        products: [{ '@id': 'pkg:oci/shoot-flux', subcomponents: [{ '@id': 'pkg:deb/debian/libc6' }] }],
        status: 'not_affected',
        justification: 'vulnerable_code_not_in_execute_path',
        impact_statement: 'Node.js and the bundle do not call the function.',
      },
    ],
  });
});

test('another statement makes another document, and the same ones the same bytes', () => {
  expect(documentOf(statement, later)['@id']).not.toBe(documentOf(statement)['@id']);
  expect(vexFile([statement])).toEqual(vexFile([statement]));
});

test('there is no document without statements, which OpenVEX does not allow', () => {
  expect(vexFile([])).toEqual({});
});

test('the scan reads the document, and a release has it as a file', async () => {
  const workflow = (name: string) => readFile(join(root, '.github/workflows', name), 'utf8');
  const [written, , scanned] = (await workflow('scan.yaml')).split(/(node infra\/release\/vex\.ts)/);
  expect(written).toContain('setup-node');
  expect(scanned).toContain(`vex: \${{ hashFiles('${VEX}') != '' && '${VEX}' || '' }}`);
  expect(VEX).toMatch(/^[^/]+\.json$/);
  expect(await workflow('release.yaml')).toMatch(/gh release create[^#]+ \*\.json /);
});

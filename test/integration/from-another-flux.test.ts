import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { shootFlux } from '../../infra/cli/testing.ts';
import { standIn } from '../../shared/flux/testing.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/from-another-flux.md'), 'utf8');
/** The manifests of the page, with the release of the stand-in. */
const manifests = [...page.matchAll(/^( *)```yaml\n([\s\S]*?)^ *```/gm)].map(([, indent = '', text = '']) =>
  text.replaceAll(new RegExp(`^${indent}`, 'gm'), '').replaceAll('v2.9.4', standIn.version),
);

describe('the page about coming from another Flux', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'from-another-flux-'));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('has manifests of both kinds', () => {
    expect(new Set(manifests.map((text) => parse(text).kind))).toEqual(new Set(['FluxConfig', 'ConfigMap']));
  });

  it.each(manifests.map((text, index) => [index, text] as const))('manifest %i is valid', async (index, text) => {
    const file = join(folder, `${index}.yaml`);
    writeFileSync(file, text);
    const option = parse(text).kind === 'ConfigMap' ? '--flux-config' : '--provider-config';
    const args = ['--flux-distribution', standIn.folder, option, file];
    expect(await shootFlux(['validate', ...args])).toEqual({ code: 0, out: '', err: '' });
    expect(await shootFlux(['render', ...args])).toMatchObject({
      code: 0,
      out: expect.stringContaining('source-controller'),
    });
  });
});

import { Agent } from 'node:https';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { withConfig } from '../../shared/config/config.fixtures.ts';
import { effectiveConfig } from '../../shared/config/effective-config.ts';
import { errorMessage } from '../../shared/errors.ts';
import { type CrdSchema, schemaProblems } from '../../shared/flux/crd-schema.ts';
import { customResourceIn, isCrd } from '../../shared/flux/custom-resources.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { componentsOf } from '../../shared/flux/install.ts';
import { ruleProblems } from '../../shared/flux/object-rules.ts';
import type { Resource } from '../../shared/kube/resource.ts';
import { numericSeed, seed } from '../scenarios/sampling.ts';
import { requestJson } from './cluster/request.ts';
import { applyObjects } from './install/objects.ts';
import { useApiServers, withTestData } from './on-real-apis.ts';
import { validSpecs } from './upgrades/stored-objects.ts';

const SAMPLES = 60;
const AT_ONCE = 6;
const PREFIX = 'object-rules';

withTestData(`rules of CRDs, as a real API server evaluates them, seed ${seed}`, async (folder) => {
  const used = useApiServers({ [PREFIX]: {} });
  const versions = await openDistribution(folder).versions();
  const releases = await Promise.all(versions.map((version) => openDistribution(folder).release(version)));
  const agent = new Agent({ keepAlive: true });
  afterAll(() => agent.destroy());

  describe.each(releases)('Flux $version', (release) => {
    const crds = [...release.files.values()].flat().filter(isCrd);
    const kinds = Object.keys(validSpecs).filter((kind) => crds.some(({ spec }) => namesOf(spec).kind === kind));

    beforeAll(async () => {
      await applyObjects(used.servers[PREFIX], crds);
    });

    // CRDs of a release may lack a version that those of another one have stored.
    afterAll(() => used.forget());

    test.each(kinds)('%s: refuses what the API server refuses, and nothing else', async (kind) => {
      const config = effectiveConfig(withConfig({ flux: { components: componentsOf(release) } }));
      const { apiVersion, spec: schema = {} } = customResourceIn(release, config, { kind, apiVersion: '' }, '');
      const crd = crds.find(({ spec }) => namesOf(spec).kind === kind);
      const resource = resourceOf(kind, apiVersion, namesOf(crd?.spec).plural);
      // A kind is served a moment after its CRD was created.
      const list = () => used.clients[PREFIX].list(resource, { namespace: 'default', limit: 1 });
      await vi.waitFor(list, { timeout: 240_000, interval: 200 });

      const sample = fc.sample(around(schema), { numRuns: SAMPLES, seed: numericSeed });
      const drawn = [validSpecs[kind] ?? {}, { unknown: true }, ...sample];
      const verdicts: boolean[] = [];
      const check = async (spec: object) => {
        const types = schemaProblems(schema, spec, ['spec'], release.version);
        const problems = types.length === 0 ? ruleProblems(schema, spec, ['spec']) : types;
        const object = { apiVersion, kind, metadata: { name: 'a', namespace: 'default' }, spec };
        const refusal = await refusalOf(resource, object);
        const said = `${JSON.stringify(spec)}\nwe: ${JSON.stringify(problems)}\nthe API server: ${refusal}`;
        expect(problems.length > 0, said).toBe(refusal !== undefined);
        return problems.length > 0;
      };
      for (let first = 0; first < drawn.length; first += AT_ONCE)
        verdicts.push(...(await Promise.all(drawn.slice(first, first + AT_ONCE).map(check))));
      expect(verdicts.slice(0, 2)).toEqual([false, true]);
      expect(verdicts.filter((isRefused) => !isRefused).length).toBeGreaterThan(SAMPLES / 10);
    });
  });

  /** A dry run, with the checks of a real creation; undefined if it is accepted. */
  const refusalOf = async ({ plural }: Resource, object: { apiVersion: string }): Promise<string | undefined> => {
    const path = `/apis/${object.apiVersion}/namespaces/default/${plural}?dryRun=All&fieldValidation=Strict`;
    try {
      await requestJson(used.servers[PREFIX], 'POST', path, object, agent);
      return undefined;
    } catch (error) {
      const message = errorMessage(error);
      // An invalid object, or a field that the CRD does not know.
      if (message.includes(': 422 ') || message.includes('strict decoding error')) return message;
      throw error;
    }
  };
});

function namesOf(spec: unknown): { kind: string; plural: string } {
  return (spec as { names: { kind: string; plural: string } }).names;
}

function resourceOf(kind: string, apiVersion: string, plural: string): Resource {
  const [group = '', version = ''] = apiVersion.split('/');
  return { group, version, kind, plural, namespaced: true };
}

const TEXTS = [
  ...['a', '1m', '1h30m', 'https://a.example/b', 'ssh://git@a.example/b', 'oci://a.example/b', 'a:b', '', 'A b'],
  ...['@a', '@a/**', '@artifact/', 'a'.repeat(54), 'a'.repeat(256)],
];

/** Draws specs around a schema: most are valid, and the fields that its rules name are there half of the time. */
function around(schema: CrdSchema): fc.Arbitrary<object> {
  const rules: string[] = [];
  const note = ({ properties = {}, items, ...rest }: CrdSchema) => {
    rules.push(...(rest['x-kubernetes-validations'] ?? []).map(({ rule }) => rule));
    for (const each of [...Object.values(properties), ...(items ? [items] : [])]) note(each);
  };
  note(schema);
  const isNamed = (name: string) => rules.some((rule) => rule.includes(`.${name}`));
  const value = (of: CrdSchema): fc.Arbitrary<unknown> =>
    fc.oneof(
      { weight: 40, arbitrary: valid(of) },
      { weight: 1, arbitrary: fc.constantFrom<unknown>('x', 1, true, {}, []) },
    );
  const valid = (of: CrdSchema): fc.Arbitrary<unknown> => {
    const { type, enum: values, pattern = '', properties = {}, required = [], items = {}, minItems = 0 } = of;
    if (values !== undefined) return fc.constantFrom(...values);
    if (type === 'boolean') return fc.boolean();
    if (type === 'integer') return fc.constantFrom(1, 2);
    if (type === 'array') return fc.array(value(items), { minLength: minItems, maxLength: Math.max(minItems, 1) });
    if (type === 'string') {
      const { minLength = 0, maxLength = 300 } = of;
      const fits = (text: string) => text.length >= minLength && text.length <= maxLength;
      const fitting = TEXTS.filter((text) => fits(text) && new RegExp(pattern).test(text));
      return fitting.length === 0 ? fc.constant('a') : fc.constantFrom(...fitting);
    }
    const fields = Object.entries(properties).map(([name, field]) => {
      const weight = required.includes(name) ? 40 : isNamed(name) ? 1 : 0.05;
      const present = { weight: Math.ceil(weight * 20), arbitrary: value(field) };
      return [name, fc.oneof(present, { weight: 20, arbitrary: fc.constant(undefined) })] as const;
    });
    return fc.record(Object.fromEntries(fields));
  };
  // Without the fields that are undefined.
  return valid(schema).map((spec) => JSON.parse(JSON.stringify(spec)));
}

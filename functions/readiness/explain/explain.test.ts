import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LONGEST_QUOTE } from '../../../shared/runtime/safe-text.ts';
import {
  bucket,
  checkout,
  flux,
  fluxConfig,
  gitRepository,
  kustomization,
  oci,
  open,
  overHttps,
  overSsh,
  released,
} from './examples.testing.ts';
import { explain, failures, findFailure } from './explain.ts';
import { applyExamples } from './kustomization/apply.examples.ts';
import { buildExamples } from './kustomization/build.examples.ts';
import { prerequisiteExamples } from './kustomization/prerequisites.examples.ts';
import { chartExamples } from './others/charts.examples.ts';
import { helmExamples } from './others/helm.examples.ts';
import { imageExamples } from './others/image.examples.ts';
import { notificationExamples } from './others/notification.examples.ts';
import { connectionExamples } from './source/connection.examples.ts';
import { credentialExamples } from './source/credentials.examples.ts';
import { accessExamples, chartRepositoryExamples, repositoryExamples } from './source/repository.examples.ts';

const examples = [
  ...credentialExamples,
  ...connectionExamples,
  ...chartRepositoryExamples,
  ...repositoryExamples,
  ...accessExamples,
  ...prerequisiteExamples,
  ...buildExamples,
  ...applyExamples,
  ...chartExamples,
  ...helmExamples,
  ...notificationExamples,
  ...imageExamples,
].flatMap(([object, origin, messages]) =>
  Object.entries(messages).map(([message, expected]) => {
    const [first = '', ...more] = [expected].flat();
    const [reason = '', ...fragment] = first.split(': ');
    return { object, origin, message, reason, fragments: [fragment.join(': '), ...more] };
  }),
);

// As `%s`, because vitest truncates the fields of an object in a title.
const titled = examples.map(
  (example) => [`${example.object.kind} from ${example.origin.from}: ${example.message}`, example] as const,
);

it.each(titled)('%s', (_title, { object, origin, message, reason, fragments }) => {
  const explanation = explain(object, message, origin);
  expect(explanation.reason).toBe(reason);
  for (const text of fragments) expect(explanation.message).toContain(text);
  // A text with a name that does not exist.
  expect(explanation.message.split('Flux says: ')[0]).not.toMatch(/undefined|\$\d|\{\w/);
  expect(explanation.message).toMatch(
    new RegExp(
      `^${object.kind} flux-system/${object.metadata.name}: [^;]+; .+\\. (?:Flux says: |\\(The original message is withheld)`,
      's',
    ),
  );
});

it('has an example for every failure', () => {
  const seen = examples.map(({ object, message }) => findFailure(object.kind, message)?.failure);
  const unseen = Object.values(failures)
    .flat()
    .filter((failure) => !seen.includes(failure));
  expect(unseen.map(({ reason, matches }) => `${reason} ${matches}`)).toEqual([]);
});

it('trap 21: gives a retryable code to failures that a user can correct, and none to transient ones', () => {
  const transient = [
    ...['SourceNotReady', 'DependencyNotReady', 'HealthCheckCanceled', 'ApiServerNotAvailable'],
    ...['ServerFailed', 'IncludeNotReady'],
  ];
  for (const { object, origin, message, reason } of examples) {
    const isTransient = transient.includes(reason);
    const codes = isTransient ? [] : ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'];
    expect(explain(object, message, origin).codes, message).toEqual(codes);
  }
});

it('quotes the whole message when it is short and contains no secret', () => {
  for (const { object, origin, message } of examples) {
    if (message.length > LONGEST_QUOTE || /kind: Secret|Invalid value/.test(message)) continue;
    const quoted = message.replace(/\s+/g, ' ').trim();
    expect(explain(object, message, origin).message.endsWith(quoted), message).toBe(true);
  }
});

it('hides values that were substituted from a Secret', () => {
  const { decryption: _, ...spec } = kustomization.spec as Record<string, unknown>;
  const plain = { ...kustomization, spec };
  const filled = { ...plain, spec: { ...spec, postBuild: { substituteFrom: [{ kind: 'Secret', name: 'vars' }] } } };
  for (const value of ['"s3cr3t, \\"quoted\\" and long"', '{"a":"s3cr3t"}', 's3cr3t']) {
    const refused = `ConfigMap/apps/a dry-run failed (Invalid): ConfigMap "a" is invalid: metadata.labels: Invalid value: ${value}: a valid label must be`;
    expect(explain(plain, refused, fluxConfig).message).toContain(value);
    expect(explain(filled, refused, fluxConfig).message).toContain('Invalid value: "***": a valid label must be');
    expect(explain(kustomization, refused, fluxConfig).message).not.toContain('s3cr3t');
  }
  const mistyped =
    'ConfigMap/apps/a dry-run failed: failed to create typed patch object (apps/a; /v1, Kind=ConfigMap): .data.a: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"b":"s3cr3t"}}';
  expect(explain(filled, mistyped, fluxConfig).message).not.toContain('s3cr3t');
});

it('reports a denying webhook, whatever its message contains', () => {
  for (const { message } of examples) {
    const denied = `Deployment/apps/a dry-run failed (Forbidden): admission webhook "w" denied the request: ${message}`;
    expect(explain(kustomization, denied, fluxConfig)).toMatchObject({
      ...{ reason: 'ApplyFailed', codes: ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'] },
      message: expect.stringContaining(': the admission webhook "w" denies Deployment/apps/a; correct it'),
    });
  }
});

it('returns one line of bounded length about the object, without other codes, for any message', () => {
  const objects = [overSsh, overHttps, oci, bucket, kustomization];
  const part = fc.oneof(fc.constantFrom(...examples.map(({ message }) => message)), fc.string(), fc.webUrl());
  const parts = fc.array(part, { minLength: 1, maxLength: 3 }).map((texts) => texts.join(': '));
  fc.assert(
    fc.property(fc.constantFrom(...objects), fc.constantFrom(fluxConfig, released), parts, (object, origin, text) => {
      const { message, codes } = explain(object, text, origin);
      expect(message.startsWith(`${object.kind} flux-system/${object.metadata.name}: `)).toBe(true);
      expect(message).not.toContain('\n');
      expect(message.length).toBeLessThan(2 * LONGEST_QUOTE + 300);
      expect(['', 'ERR_RETRYABLE_CONFIGURATION_PROBLEM']).toContain(codes.join());
    }),
    { numRuns: 2000 },
  );
});

it('passes an unknown message on unchanged', () => {
  expect(explain(open, 'building artifact', fluxConfig)).toEqual({
    message: 'GitRepository flux-system/main-gitrepo: building artifact',
    codes: [],
  });
});

it('shows no values that a HelmRelease takes from a Secret', () => {
  const release = (kind: string) =>
    flux('helm', 'HelmRelease', 'app', {
      valuesFrom: [
        { kind: 'ConfigMap', name: 'a' },
        { kind, name: 'app' },
      ],
    });
  const failed = 'Helm install failed for release apps/app with chart app@1.2.3: ';
  const messages = [
    `${failed}execution error at (app/templates/all.yaml:5:6): "s3cr3t" is too short`,
    `${failed}values don't meet the specifications of the schema(s): at '/password': 's3cr3t' does not match`,
    `${failed}ConfigMap "a" is invalid: metadata.labels: Invalid value: "s3cr3t": a valid label`,
    "could not resolve Secret chart values reference 'apps/app' with key 'values.yaml': error unmarshaling JSON: s3cr3t",
  ];
  for (const message of messages) {
    expect(explain(release('Secret'), message, fluxConfig).message).not.toContain('s3cr3t');
    expect(explain(release('ConfigMap'), message, fluxConfig).message).toContain('s3cr3t');
  }
});

it('removes secrets wherever they appear, and limits the length', () => {
  const url = 'https://user:s3cr3t@git.example.com/org/fleet';
  const withPassword = gitRepository({ url });
  const { message } = explain(withPassword, `${checkout} clone '${url}': authentication required`, released);
  expect(message).toContain('https://***@git.example.com/org/fleet cannot be read');
  expect(message).not.toContain('s3cr3t');
  const denied = 'Secret/apps/a dry-run failed (Forbidden): admission webhook "w" denied the request: value s3cr3t';
  expect(explain(kustomization, denied, fluxConfig).message).not.toContain('s3cr3t');
  expect(explain(kustomization, denied, fluxConfig).message).toContain('the admission webhook "w" denies Secret/');
  const mistyped = 'Secret/apps/a dry-run failed: failed to create typed patch object (apps/a; /v1, Kind=Secret): ';
  const pin = `${mistyped}.stringData.pin: expected string, got &value.valueUnstructured{Value:123456}`;
  expect(explain(kustomization, pin, fluxConfig).message).toContain('rejects .stringData.pin of Secret/');
  expect(explain(kustomization, pin, fluxConfig).message).not.toContain('123456');
  const long = `kustomize build failed: ${'accumulating resources '.repeat(900)}`;
  expect(explain(kustomization, long, fluxConfig).message.length).toBeLessThan(LONGEST_QUOTE + 300);
});

import { expect, it } from 'vitest';
import type { Line } from '../../../shared/gardener/status-map.ts';
import type { Shoot } from '../../../shared/gardener/types.ts';
import { explainOperation } from './operation.ts';

const now = new Date('2026-01-02T04:00:00Z');
const subject = { namespace: 'garden-foo', name: 'bar', flags: ['--context', 'my garden'] };
const operation = (state: string, description = '') =>
  ({ type: 'Reconcile', state, progress: 50, description, lastUpdateTime: '2026-01-02T03:00:00Z' }) as const;

/** A Shoot whose last operation has ended so; with the entry of the extension, unless there is another list. */
function shootWith(state: string, spec: Shoot['spec'] = {}, status: object = {}): Shoot {
  const lastOperation = operation(state, 'Waiting until extensions are ready.');
  const parts = { spec: { extensions: [{ type: 'shoot-flux' }], ...spec }, status: { lastOperation, ...status } };
  return { metadata: { name: 'bar', namespace: 'garden-foo' }, ...parts } as unknown as Shoot;
}

const described = "kubectl describe shoot bar --namespace garden-foo --context 'my garden'";
const shown = "kubectl get configmap flux-status -o jsonpath={.data.bar} --namespace garden-foo --context 'my garden'";
const ready: Line = { state: 'Ready' };

it.each<[string, Shoot, Line | undefined, string, string | RegExp | undefined, string | undefined]>([
  ['good', shootWith('Succeeded'), ready, 'ok', undefined, undefined],
  [
    'good with a warning',
    shootWith('Succeeded'),
    { ...ready, sentence: 'flux-config: fluxVersion is old.' },
    ...(['attention', 'flux-config: fluxVersion is old.', shown] as const),
  ],
  ['at work', shootWith('Processing'), ready, 'attention', 'Waiting until extensions are ready.', described],
  [
    ...(['failed for good', shootWith('Failed', {}, { lastErrors: [{ description: 'No quota.' }] }), ready] as const),
    ...([
      'broken',
      /^No quota\. Gardener does not try again; correct the cause, then: kubectl annotate shoot bar/,
    ] as const),
    described,
  ],
  ['failing', shootWith('Error'), ready, 'broken', 'Waiting until extensions are ready.', described],
  [
    ...(['disabled', shootWith('Succeeded', { extensions: [{ type: 'shoot-flux', disabled: true }] }), ready] as const),
    ...(['broken', /^Shoot garden-foo\/bar disables shoot-flux; remove disabled/, described] as const),
  ],
  ['hibernated', shootWith('Succeeded', { hibernation: { enabled: true } }), ready, 'attention', /hibernated/, shown],
  [
    'new',
    shootWith('Succeeded'),
    undefined,
    'attention',
    /^flux-status has no line for Shoot bar; wait a few minutes/,
    shown,
  ],
  [
    'without the extension',
    shootWith('Succeeded', { extensions: [] }),
    undefined,
    'broken',
    /; add shoot-flux to/,
    shown,
  ],
  [
    'progressing',
    shootWith('Succeeded'),
    { state: 'Progressing', sentence: 'It begins.' },
    'attention',
    'It begins.',
    shown,
  ],
  ['not Ready', shootWith('Succeeded'), { state: 'Not Ready', sentence: 'No key.' }, 'broken', 'No key.', shown],
])('the operation of a Shoot that is %s', (_, shoot, line, mark, sentence, command) => {
  const link = explainOperation(
    { shoot, line, isLineUnseen: false, foreign: undefined, seed: '', isFluxSeen: false },
    subject,
    now,
  );
  expect(link).toMatchObject({ mark, text: expect.stringMatching(/^Shoot: Reconcile \w+ \(50%\), 60m ago$/) });
  expect(link.sentence).toEqual(sentence instanceof RegExp ? expect.stringMatching(sentence) : sentence);
  expect(link.command).toBe(command);
});

it('takes no line that it may not read, or that is none of ours, for a missing one', () => {
  const seen = { shoot: shootWith('Succeeded'), line: undefined, seed: '', isFluxSeen: false };
  expect(explainOperation({ ...seen, isLineUnseen: true, foreign: undefined }, subject, now).mark).toBe('ok');
  const link = explainOperation({ ...seen, isLineUnseen: false, foreign: 'It is none of ours.' }, subject, now);
  expect(link).toMatchObject({ mark: 'attention', sentence: 'It is none of ours.' });
});

it('is not broken where the shoot itself shows what is wrong', () => {
  const line: Line = { state: 'Not Ready', sentence: 'No key.' };
  const link = explainOperation(
    { shoot: shootWith('Succeeded'), line, isLineUnseen: false, foreign: undefined, seed: '', isFluxSeen: true },
    subject,
    now,
  );
  expect(link.mark).toBe('attention');
});

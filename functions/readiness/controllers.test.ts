import { describe, expect, it } from 'vitest';
import type { Applied } from '../../shared/gardener/types.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { controllersVerdict, type ObservedControllers } from './controllers.ts';
import { applied, deployment, deployments } from './shoot.testing.ts';

const nothing = { conditions: [], now: new Date() };
const verdictOn = (record: Applied, found: KubeObject[], more: Partial<ObservedControllers> = {}, previous = nothing) =>
  controllersVerdict(record, { deployments: found, ...more }, previous);

describe('controllersVerdict', () => {
  it.each([
    [
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' },
      'pods "source-controller-5b" is forbidden: exceeded quota: critical-pods, requested: pods=1, used: pods=0, limited: pods=0',
      'the ResourceQuota "critical-pods" of the shoot has no room for them; raise it',
      ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'],
    ],
    [
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' },
      'pods "source-controller-5b" is forbidden: violates PodSecurity "restricted:latest": unrestricted capabilities',
      'the namespace enforces the Pod Security Standard "restricted:latest"',
      ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'],
    ],
    [
      { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' },
      'ReplicaSet "source-controller-5b" has timed out progressing.',
      'nodes may be missing, or images cannot be pulled',
      undefined,
    ],
  ])('explains why controllers do not become available: %j', (condition, message, remedy, codes) => {
    const waiting = { ...deployment('source-controller', 0), status: { conditions: [{ ...condition, message }] } };
    const verdict = verdictOn(applied, [waiting, ...deployments.slice(1)]);
    expect(verdict).toMatchObject({ status: 'False', message: expect.stringContaining(remedy) });
    expect(verdict.message).toMatch(/^Not available: source-controller; /);
    expect(verdict.codes).toEqual(codes);
  });

  it('counts the controllers of shards that were applied', () => {
    const refs = ['source-controller', 'source-controller-one'].map((name) => `Deployment.apps/flux-system/${name}`);
    const sharded = { ...applied, objects: { ...applied.objects, 'shoot-flux-controllers': refs } };
    const verdictWith = (available: number) =>
      verdictOn(sharded, [...deployments, deployment('source-controller-one', available)]);
    expect(verdictWith(1)).toMatchObject({ status: 'True' });
    expect(verdictWith(0)).toMatchObject({ status: 'False', message: 'Not available yet: source-controller-one.' });
    const missing = verdictOn(sharded, deployments);
    expect(missing).toMatchObject({ status: 'False', message: 'Not available yet: source-controller-one.' });
  });

  it.each([
    ['the pod of the previous release is still running', deployment('source-controller', 1, { replicas: 2 })],
    ['the new pod does not exist yet', deployment('source-controller', 1, { updatedReplicas: 0 })],
    ['the status is of a previous generation', deployment('source-controller', 1, { observedGeneration: 0 })],
  ])('does not report a release as available before its rollout is complete: %s', (_, waiting) => {
    const verdict = verdictOn(applied, [waiting, ...deployments.slice(1)]);
    expect(verdict).toMatchObject({ status: 'False', message: expect.stringMatching(/^Not available yet: source-c/) });
  });

  it('shortens the messages of Kubernetes about rejected pods and removes secrets', () => {
    const url = `https://user:s3cr3t@example.com/${'x'.repeat(9000)}`;
    const condition = { type: 'ReplicaFailure', status: 'True', message: `exceeded quota: ${url}` };
    const waiting = deployment('source-controller', 0, { conditions: [condition] });
    const verdict = verdictOn(applied, [waiting]);
    expect(verdict.message.length).toBeLessThan(1500);
    expect(verdict.message).not.toContain('s3cr3t');
  });

  it('reports the Flux release that runs, which users may change once Flux is released', () => {
    const labels = { 'app.kubernetes.io/version': 'v2.10.1' };
    const own = deployments.map((one) => ({ ...one, metadata: { ...one.metadata, labels } }));
    expect(verdictOn(applied, own).message).toBe('Flux v2.10.1 is running.');
    expect(verdictOn(applied, deployments).message).toBe(`Flux ${applied.fluxVersion} is running.`);
  });

  it('reports controllers that are scaled to 0 replicas', () => {
    const off = { ...deployment('source-controller', 0, { replicas: 0, updatedReplicas: 0 }), spec: { replicas: 0 } };
    const verdict = verdictOn(applied, [off, ...deployments.slice(1)]);
    expect(verdict).toMatchObject({
      status: 'False',
      message: expect.stringContaining('Not available: source-controller; some are scaled to 0 replicas; scale them'),
    });
  });
});

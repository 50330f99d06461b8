import { describe, expect, it } from 'vitest';
import { statusError } from '../kube/call-errors.ts';
import { KubeError } from '../kube/errors.ts';
import { resources } from '../kube/resource.ts';
import { CreationRefusedError, orRefused } from './creation-refused.ts';

const creation = { object: 'Secret garden-foo/flux-source', remedy: 'create it by hand' };
const failed = (message: string, code = 403) =>
  orRefused(
    Promise.reject(
      statusError({ method: 'POST', resource: resources.secrets, name: {} }, code, { kind: 'Status', message }),
    ),
    creation,
  ).catch((error: unknown) => error);

describe('a refused creation', () => {
  it.each(
    Object.entries({
      'admission webhook "seed-restriction.gardener.cloud" denied the request: object does not belong to seed "lab"':
        'the admission webhook seed-restriction.gardener.cloud denies it; create it by hand. Once the operators of this landscape have upgraded the shoot-flux chart, shoot-flux has its own account in the garden and can create it itself.',
      'admission webhook "shoot-restriction.gardener.cloud" denied the request: object does not belong to shoot garden/a':
        'the admission webhook shoot-restriction.gardener.cloud denies it; create it by hand.',
      "secrets \"flux-source\" is forbidden: ValidatingAdmissionPolicy 'only-ours' with binding 'b' denied request: no":
        'the ValidatingAdmissionPolicy only-ours denies it; create it by hand.',
      'secrets is forbidden: User "u" cannot create resource "secrets" in API group "" in the namespace "garden-foo"':
        'shoot-flux lacks the right; create it by hand. The operators of this landscape have to apply the registration of this shoot-flux version; it grants the right.',
    }),
  )('says who refuses it and what helps: %s', async (message, expected) => {
    const error = await failed(message);
    expect(error).toBeInstanceOf(CreationRefusedError);
    expect(error).toMatchObject({ message: `Secret garden-foo/flux-source cannot be created, because ${expected}` });
  });

  it.each([
    ['secrets "flux-source" is forbidden: exceeded quota: small, requested: count/secrets=1', 403],
    [
      'secrets "flux-source" is forbidden: unable to create new content in namespace a because it is being terminated',
      403,
    ],
    ['the server is currently unable to handle the request', 503],
    ['admission webhook "a" denied the request: the cache is not ready', 500],
    ['admission webhook "a" denied the request: too many requests', 429],
    ['secrets "flux-source" already exists', 409],
  ])('is not claimed where a person would fail as well, or a retry helps: %s %i', async (message, code) => {
    const error = await failed(message, code);
    expect(error).toBeInstanceOf(KubeError);
    expect(error).not.toBeInstanceOf(CreationRefusedError);
  });
});

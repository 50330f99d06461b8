import { ForbiddenError, NotFoundError, unless } from '../../shared/kube/errors.ts';
import type { HttpKubeClient } from '../../shared/kube/http-client.ts';
import { fieldsAt, textAt } from '../../shared/shapes.ts';

const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };

/** Returns the name under which a cluster knows the credentials; undefined where it does not tell, as before Kubernetes 1.28. */
export async function whoAmI(kube: Pick<HttpKubeClient, 'ask'>): Promise<string | undefined> {
  const asked = kube.ask('/apis/authentication.k8s.io/v1/selfsubjectreviews', review);
  return textAt(await unless(asked, NotFoundError, ForbiddenError), 'status', 'userInfo', 'username');
}

/** Asks whether somebody may do what a review says: whoever asks, or a user whom it names. */
export async function hasRight(
  kube: Pick<HttpKubeClient, 'ask'>,
  kind: 'SelfSubjectAccessReview' | 'SubjectAccessReview',
  spec: object,
): Promise<boolean> {
  const apiVersion = 'authorization.k8s.io/v1';
  const answer = await kube.ask(`/apis/${apiVersion}/${kind.toLowerCase()}s`, { apiVersion, kind, spec });
  return fieldsAt(answer, 'status')?.allowed === true;
}

import type { KubeClient, ListOptions, ObjectList } from './client.ts';
import { AnswerTooLargeError } from './errors.ts';
import type { KubeObject, Resource } from './resource.ts';

/** Lists a page, with ever fewer objects while it is larger than an answer may be. Also returns how many it asked for. */
export async function listPage<T extends KubeObject>(
  kube: KubeClient,
  kind: Resource,
  { limit, ...options }: ListOptions & { limit: number },
): Promise<ObjectList<T> & { limit: number }> {
  try {
    return { ...(await kube.list<T>(kind, { ...options, limit })), limit };
  } catch (error) {
    if (!(error instanceof AnswerTooLargeError) || limit === 1) throw error;
    return listPage(kube, kind, { ...options, limit: Math.ceil(limit / 4) });
  }
}

/** Yields all objects of a kind; the next page is read when those of the one before are used. */
export async function* objectsOf(kube: KubeClient, kind: Resource, options: ListOptions = {}, limit = 500) {
  let token: string | undefined;
  do {
    const page = await listPage(kube, kind, { ...options, limit, continue: token });
    yield* page.items;
    ({ continue: token, limit } = page);
  } while (token !== undefined);
}

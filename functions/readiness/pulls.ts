import { entriesAt, fieldsOf, textAt } from '../../shared/gardener/shapes.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { beginOf } from '../../shared/runtime/safe-text.ts';

/** Why an image cannot be pulled, as far as the message of the kubelet says. */
export type PullProblem = 'certificate' | 'rateLimit' | 'credentials' | 'missing' | 'unreachable' | 'name' | 'unknown';

/** A container of Flux whose image cannot be pulled. */
export interface PullFailure {
  image: string;
  problem: PullProblem;
  /** What the kubelet says; its length is limited. */
  message: string;
  /** The Secrets that its Pod names for pulling. */
  pullSecrets: string[];
}

/** What the kubelet gives as the reason of a container that waits for its image. */
const waiting: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);

/**
 * Messages of container runtimes; the first match counts. A registry that limits requests or whose certificate is not
 * trusted may also be called forbidden or not found.
 */
const problems: [PullProblem, RegExp][] = [
  ['certificate', /x509:|certificate (?:signed by|is not|has expired)|server gave HTTP response to HTTPS client/],
  ['rateLimit', /toomanyrequests|too many requests|\b429\b|rate limit/i],
  ['credentials', /\b40[13]\b|unauthorized|authorization failed|denied|forbidden|no basic auth|insufficient_scope/i],
  ['missing', /not found|(?:manifest|name) unknown|\b404\b|does not exist/i],
  [
    'unreachable',
    /no such host|connection (?:refused|reset)|i\/o timeout|no route to host|TLS handshake timeout|deadline exceeded|dial tcp|\bEOF\b/,
  ],
];

/** Returns the failure that says most about its cause; undefined when no Pod waits for an image. */
export function pullFailureOf(pods: readonly KubeObject[]): PullFailure | undefined {
  const failures = pods.flatMap(failuresOf);
  return failures.find(({ problem }) => problem !== 'unknown') ?? failures[0];
}

function failuresOf({ spec, status }: KubeObject): PullFailure[] {
  const statuses = [...entriesAt(status, 'initContainerStatuses'), ...entriesAt(status, 'containerStatuses')];
  const pullSecrets = entriesAt(spec, 'imagePullSecrets').flatMap(({ name }) =>
    typeof name === 'string' ? [name] : [],
  );
  return statuses.flatMap((container) => {
    const state = fieldsOf(fieldsOf(container.state)?.waiting);
    const reason = textAt(state, 'reason') ?? '';
    if (!waiting.has(reason)) return [];
    const image = textAt(container, 'image') ?? '';
    const message = beginOf(textAt(state, 'message') ?? '');
    return [{ image, problem: problemOf(reason, message, image), message, pullSecrets }];
  });
}

function problemOf(reason: string, message: string, image: string): PullProblem {
  if (reason === 'InvalidImageName') return 'name';
  // The name of an image may have any of these words.
  const words = image === '' ? message : message.replaceAll(image, '');
  return problems.find(([, pattern]) => pattern.test(words))?.[0] ?? 'unknown';
}

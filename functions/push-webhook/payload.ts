import { EVERY_REPOSITORY, repositoryId } from '../../shared/config/push.ts';
import { asObject, asString } from '../../shared/config/values.ts';
import type { PushCall } from '../../shared/runtime/webhook.ts';

/** Where Git hosts name the repository, in `repository` or `project` of the payload. */
const FIELDS = ['clone_url', 'ssh_url', 'html_url', 'git_http_url', 'git_ssh_url', 'web_url'] as const;

/** Returns the ids of the repository that a Git host has named, under all its addresses; otherwise all repositories. */
export function repositoriesIn(headers: PushCall['headers'], body: Buffer): string[] {
  const payload = payloadOf(headers, body.toString('utf8'));
  const urls = [payload?.repository, payload?.project].flatMap((value) => {
    const named = asObject(value) ?? {};
    const ofBitbucket = asObject(asObject(named.links)?.html)?.href;
    return [...FIELDS.map((field) => named[field]), ofBitbucket];
  });
  const ids = urls.flatMap((url) => repositoryId(asString(url) ?? '') ?? []);
  return ids.length === 0 ? [EVERY_REPOSITORY] : [...new Set(ids)];
}

function payloadOf(headers: PushCall['headers'], text: string) {
  // GitHub sends a form unless its webhook is set to JSON.
  const isForm = `${headers['content-type'] ?? ''}`.startsWith('application/x-www-form-urlencoded');
  try {
    return asObject(JSON.parse((isForm && new URLSearchParams(text).get('payload')) || text));
  } catch {
    return undefined;
  }
}

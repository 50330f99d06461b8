import { readFile } from 'node:fs/promises';
import { stringify } from 'yaml';

/** One request, as audit level Metadata records it. */
export interface AuditEntry {
  /** get, list, watch, create, update, patch, delete, deletecollection. */
  verb: string;
  user: string;
  userAgent: string;
  /** Plural of the resource, with `/status` or another subresource; empty for requests outside of the API groups. */
  resource: string;
  namespace: string;
  name: string;
  requestUri: string;
  /** HTTP code; 0 while a watch is still open. */
  code: number;
  /** When the request came in. */
  receivedAt: string;
  /** Which role permitted it, in the server's words. */
  reason: string;
}

interface AuditEvent {
  auditID: string;
  verb: string;
  requestURI: string;
  userAgent?: string;
  user: { username?: string };
  objectRef?: { resource?: string; subresource?: string; namespace?: string; name?: string };
  responseStatus?: { code?: number };
  requestReceivedTimestamp: string;
  annotations?: Record<string, string>;
}

/** Logs every request at level Metadata, except the server's requests to itself, which would bury the others. */
export const auditPolicy = stringify({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'None', users: ['system:apiserver'] }, { level: 'Metadata' }],
});

/** Reads an audit log: one entry for each request, in order of arrival. */
export async function readAuditLog(path: string): Promise<AuditEntry[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const entries = new Map<string, AuditEntry>();
  // The last line may be incomplete. A watch has two lines, when it opens and when it ends; the later one wins.
  for (const line of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) {
    if (line === '') continue;
    const event = JSON.parse(line) as AuditEvent;
    entries.set(event.auditID, entryOf(event));
  }
  return [...entries.values()].sort((a, b) => (a.receivedAt < b.receivedAt ? -1 : 1));
}

function entryOf(event: AuditEvent): AuditEntry {
  const { resource = '', subresource, namespace = '', name = '' } = event.objectRef ?? {};
  return {
    verb: event.verb,
    user: event.user.username ?? '',
    userAgent: event.userAgent ?? '',
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    namespace,
    name,
    requestUri: event.requestURI,
    code: event.responseStatus?.code ?? 0,
    receivedAt: event.requestReceivedTimestamp,
    reason: event.annotations?.['authorization.k8s.io/reason'] ?? '',
  };
}

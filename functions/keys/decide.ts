import { FLUX_CONFIG, FLUX_SOURCE } from '../../shared/config/project-config.ts';
import {
  hostKeyLine,
  hostKeys,
  hostPattern,
  knownHostsSizeProblem,
  type SshHost,
  sshHost,
} from '../../shared/ssh/known-hosts.ts';
import { fingerprint, type PublicKey } from '../../shared/ssh/public-key.ts';
import { type Notice, normal, warning } from './notice.ts';
import { decideKeyPairs, invalidSecret } from './pairs.ts';
import { publishedHostKeys } from './published-host-keys.ts';
import type { Need, Situation } from './situation.ts';
import { TRUSTED_HOST_KEY } from './situation.ts';

/** The fields of the Secret to write; `null` removes one. */
export interface SecretChange {
  data: Record<string, string | null>;
  annotations: Record<string, string | null>;
}

/** What the function does next about a project's key pair and host keys. */
export type Decision =
  /** Obtain this, then decide again. */
  | { type: 'needs'; what: Need }
  /** Write the change, report the notices, and run again later when `retry`. */
  | { type: 'decided'; change?: SecretChange | undefined; notices: Notice[]; retry: boolean };

/**
 * Decides what to write to the Secret and what to report. An existing key is only replaced by a requested rotation; an
 * invalid Secret is reported and left unchanged.
 */
export function decide(situation: Situation): Decision {
  const pairs = decideKeyPairs(situation);
  if ('what' in pairs) return { type: 'needs', what: pairs.what };
  if ('problem' in pairs) return { type: 'decided', notices: invalidSecret(situation, pairs.problem), retry: false };
  const hosts = decideKnownHosts(situation);
  if ('what' in hosts) return { type: 'needs', what: hosts.what };

  const change = differenceTo(situation.secret, {
    data: { ...pairs.data, ...(hosts.knownHosts !== undefined && { known_hosts: hosts.knownHosts }) },
    annotations: { ...pairs.annotations, [TRUSTED_HOST_KEY]: hosts.trusted ?? null },
  });
  if (change !== undefined && situation.secret?.immutable === true) {
    const problem = 'is immutable but has to change; recreate it without "immutable"';
    return { type: 'decided', notices: invalidSecret(situation, problem), retry: false };
  }
  return { type: 'decided', change, notices: [...pairs.notices, ...hosts.notices], retry: hosts.retry };
}

function differenceTo(secret: Situation['secret'], { data, annotations }: SecretChange): SecretChange | undefined {
  const changed = Object.entries(annotations).filter(([name, value]) => (secret?.annotations[name] ?? null) !== value);
  if (Object.keys(data).length === 0 && changed.length === 0) return undefined;
  return { data, annotations: Object.fromEntries(changed) };
}

interface KnownHostsDecision {
  /** New content of known_hosts; absent when it does not change. */
  knownHosts?: string | undefined;
  /** Value of the annotation for a key trusted on first use; absent when the host keys come from another source. */
  trusted?: string | undefined;
  notices: Notice[];
  retry: boolean;
}

/**
 * Takes the host keys from the first source that has some: the configuration, the existing known_hosts, the published
 * keys, or, where the configuration says `scan`, the host itself.
 */
function decideKnownHosts(situation: Situation): KnownHostsDecision | { what: Need } {
  const { repository, secret, scannedHostKey } = situation;
  const host = sshHost(repository.url);
  const isScanAllowed = repository.knownHosts === 'scan';
  if (repository.knownHosts !== undefined && !isScanAllowed) {
    return configuredHostKeys(situation, host, repository.knownHosts);
  }
  const existing = secret?.data.known_hosts ?? '';
  const problem = knownHostsSizeProblem(existing);
  if (problem !== undefined) return { notices: [tooLarge(situation, problem)], retry: false };
  if (hostKeys(existing, host).length > 0) return existingHostKeys(situation, host, existing);
  const published = publishedHostKeys(host);
  if (published.length > 0) return { knownHosts: withHostKeys(existing, host, published), notices: [], retry: false };
  if (!isScanAllowed) return { notices: [hostKeysMissing(situation, host, 'notGiven')], retry: false };
  if (situation.isScanOff === true) return { notices: [hostKeysMissing(situation, host, 'scanOff')], retry: false };
  if (scannedHostKey === undefined) return { what: 'scannedHostKey' };
  if (scannedHostKey === 'none') return { notices: [hostKeysMissing(situation, host, 'notPresented')], retry: true };
  const trusted = `${hostPattern(host)} ${fingerprint(scannedHostKey)}`;
  const knownHosts = withHostKeys(existing, host, [scannedHostKey]);
  return { knownHosts, trusted, notices: [trustedOnFirstUse(trusted)], retry: false };
}

function configuredHostKeys(situation: Situation, host: SshHost, configured: string): KnownHostsDecision {
  // Lines for other hosts alone would replace lines that work.
  if (hostKeys(configured, host).length === 0)
    return { notices: [hostKeysMissing(situation, host, 'otherHosts')], retry: false };
  const isWritten = situation.secret?.data.known_hosts?.trim() === configured.trim();
  return { ...(!isWritten && { knownHosts: `${configured.trim()}\n` }), notices: [], retry: false };
}

function existingHostKeys({ secret }: Situation, host: SshHost, existing: string): KnownHostsDecision {
  // Reported again from the annotation, in case the run that wrote it was killed before it reported.
  const trusted = secret?.annotations[TRUSTED_HOST_KEY];
  const isTrusted = hostKeys(existing, host).some((key) => trusted === `${hostPattern(host)} ${fingerprint(key)}`);
  if (trusted === undefined || !isTrusted) return { notices: [], retry: false };
  return { trusted, notices: [trustedOnFirstUse(trusted)], retry: false };
}

/** Adds lines and keeps those for other hosts: they may be the user's. */
function withHostKeys(existing: string, host: SshHost, keys: PublicKey[]): string {
  const lines = keys.map((key) => hostKeyLine(host, key));
  return `${[...(existing === '' ? [] : [existing.trim()]), ...lines].join('\n')}\n`;
}

function trustedOnFirstUse(trusted: string): Notice {
  return normal(
    'HostKeyTrusted',
    `Trusted the host key ${trusted} on first use; compare it with the fingerprint that the host's operator publishes.`,
  );
}

/** Returns why known_hosts has no key for the host, and how the user provides one. */
function hostKeysMissing(
  { namespace }: Situation,
  host: SshHost,
  why: 'notGiven' | 'otherHosts' | 'scanOff' | 'notPresented',
): Notice {
  const name = hostPattern(host);
  const addLines = 'add the lines that ssh-keyscan prints for';
  const sentence = {
    notGiven: `is missing, and the host is not a well-known one; ${addLines} ${name}, or set "scan" to trust the first key that the host presents`,
    otherHosts: `has no key for ${name}; ${addLines} it`,
    scanOff: `cannot be "scan", because the operators of this landscape have switched it off; ${addLines} ${name}`,
    notPresented: `cannot be completed, because ${name} presented no host key that this landscape may fetch; check repositoryUrl, or ${addLines} it`,
  }[why];
  return warning('HostKeysMissing', `ConfigMap ${namespace}/${FLUX_CONFIG}: knownHosts ${sentence}.`);
}

function tooLarge({ namespace }: Situation, problem: string): Notice {
  return warning('InvalidSecret', `Secret ${namespace}/${FLUX_SOURCE}: known_hosts ${problem}.`);
}

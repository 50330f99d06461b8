import { FLUX_CONFIG, FLUX_SOURCE } from '../../shared/config/project-config.ts';
import { type Notice, normal, warning } from '../../shared/gardener/event.ts';
import {
  hostKeyLine,
  hostKeys,
  hostPattern,
  knownHostsSizeProblem,
  type SshHost,
  scannedLines,
  sshHost,
} from '../../shared/ssh/known-hosts.ts';
import { fingerprint, type PublicKey } from '../../shared/ssh/public-key.ts';
import { decideKeyPairs, invalidSecret, type SecretChange, type Situation } from './pairs.ts';
import { publishedHostKeys } from './published-host-keys.ts';

/** Host and fingerprint of the host key that was trusted on first use. */
export const TRUSTED_HOST_KEY = 'flux.extensions.gardener.cloud/trusted-host-key';

/** What the function does about a project's key pair and host keys. */
export interface Decision {
  change?: SecretChange | undefined;
  notices: Notice[];
  /** True: run again later. */
  retry?: boolean | undefined;
}

/** What is expensive to obtain: a key is only generated, and a host only contacted, when a decision needs it. */
export interface Sources {
  newIdentity(): Promise<string>;
  /** Returns the key that the host of the repository presents; undefined when it presents none. */
  scanHostKey(): Promise<PublicKey | undefined>;
}

/**
 * Decides what to write to the Secret and what to report. An existing key is only replaced by a requested rotation; an
 * invalid Secret is reported and left unchanged.
 */
export async function decide(situation: Situation, { newIdentity, scanHostKey }: Sources): Promise<Decision> {
  const pairs = await decideKeyPairs(situation, newIdentity);
  if ('problem' in pairs) return { notices: invalidSecret(situation, pairs.problem) };
  const { knownHosts, trusted, notices = [], retry } = await decideKnownHosts(situation, scanHostKey);

  const change = differenceTo(situation.secret, {
    data: { ...pairs.data, ...(knownHosts !== undefined && { known_hosts: knownHosts }) },
    annotations: { ...pairs.annotations, [TRUSTED_HOST_KEY]: trusted ?? null },
  });
  if (change !== undefined && situation.secret?.immutable === true) {
    return { notices: invalidSecret(situation, 'is immutable but has to change; recreate it without "immutable"') };
  }
  return { change, notices: [...pairs.notices, ...notices], retry };
}

function differenceTo(secret: Situation['secret'], { data, annotations }: SecretChange): SecretChange | undefined {
  const changed = Object.entries(annotations).filter(([name, value]) => (secret?.annotations[name] ?? null) !== value);
  if (Object.keys(data).length === 0 && changed.length === 0) return undefined;
  return { data, annotations: Object.fromEntries(changed) };
}

interface KnownHostsDecision {
  /** New content of known_hosts; absent when it does not change. */
  knownHosts?: string;
  /** Value of the annotation for a key trusted on first use; absent when the host keys come from another source. */
  trusted?: string;
  notices?: Notice[];
  retry?: boolean;
}

/**
 * Takes the host keys from the first source that has some: the configuration, the existing known_hosts, the published
 * keys, or, where the configuration says `scan`, the host itself.
 */
async function decideKnownHosts(
  situation: Situation,
  scanHostKey: Sources['scanHostKey'],
): Promise<KnownHostsDecision> {
  const { namespace, repository, secret } = situation;
  const host = sshHost(repository.url);
  const existing = secret?.data.known_hosts ?? '';
  const isScanAllowed = repository.knownHosts === 'scan';
  if (repository.knownHosts !== undefined && !isScanAllowed) {
    // It has a key of the host, or it would not be valid.
    const configured = repository.knownHosts.trim();
    return existing.trim() === configured ? {} : { knownHosts: `${configured}\n` };
  }
  const problem = knownHostsSizeProblem(existing);
  if (problem !== undefined) {
    return { notices: [warning('InvalidSecret', `Secret ${namespace}/${FLUX_SOURCE}: known_hosts ${problem}.`)] };
  }
  if (hostKeys(existing, host).length > 0) return existingHostKeys(situation, host, existing);
  const published = publishedHostKeys(host);
  if (published.length > 0) return { knownHosts: withHostKeys(existing, host, published) };
  if (!isScanAllowed) return { notices: [hostKeysMissing(situation, host, 'notGiven')] };
  if (situation.isScanOff === true) return { notices: [hostKeysMissing(situation, host, 'scanOff')] };
  const scanned = await scanHostKey();
  if (scanned === undefined) return { notices: [hostKeysMissing(situation, host, 'notPresented')], retry: true };
  const trusted = `${hostPattern(host)} ${fingerprint(scanned)}`;
  return { knownHosts: withHostKeys(existing, host, [scanned]), trusted, notices: [trustedOnFirstUse(trusted)] };
}

function existingHostKeys({ secret }: Situation, host: SshHost, existing: string): KnownHostsDecision {
  // Reported again from the annotation, in case the run that wrote it was killed before it reported.
  const trusted = secret?.annotations[TRUSTED_HOST_KEY];
  const isTrusted = hostKeys(existing, host).some((key) => trusted === `${hostPattern(host)} ${fingerprint(key)}`);
  return trusted === undefined || !isTrusted ? {} : { trusted, notices: [trustedOnFirstUse(trusted)] };
}

/** Adds lines and keeps those for other hosts: they may be the user's. */
function withHostKeys(existing: string, host: SshHost, keys: PublicKey[]): string {
  const lines = keys.map((key) => hostKeyLine(host, key));
  return `${[...(existing === '' ? [] : [existing.trim()]), ...lines].join('\n')}\n`;
}

/** The reason of the Event about a host key that was trusted on first use. */
export const HOST_KEY_TRUSTED = 'HostKeyTrusted';

function trustedOnFirstUse(trusted: string): Notice {
  return normal(
    HOST_KEY_TRUSTED,
    `Trusted the host key ${trusted} on first use; compare it with the fingerprint that the host's operator publishes.`,
  );
}

function hostKeysMissing(
  { namespace }: Situation,
  host: SshHost,
  why: 'notGiven' | 'scanOff' | 'notPresented',
): Notice {
  const name = hostPattern(host);
  const addLines = `add ${scannedLines(host)}`;
  const sentence = {
    notGiven: `is missing, and the host is not a well-known one; ${addLines}, or set "scan" to trust the first key that the host presents`,
    scanOff: `cannot be "scan", because the operators of this landscape have switched it off; ${addLines}`,
    notPresented: `cannot be completed, because ${name} presented no host key that this landscape may fetch; check repositoryUrl, or ${addLines}`,
  }[why];
  return warning('HostKeysMissing', `ConfigMap ${namespace}/${FLUX_CONFIG}: knownHosts ${sentence}.`);
}

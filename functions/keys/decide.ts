import { FLUX_CONFIG } from '../../shared/gardener/project-config.ts';
import { hostPattern, type SshHost, sshHost } from '../../shared/ssh/host.ts';
import { hostKeyLine, hostKeys } from '../../shared/ssh/known-hosts.ts';
import { fingerprint, type PublicKey } from '../../shared/ssh/public-key.ts';
import { TRUSTED_HOST_KEY } from './annotations.ts';
import { type Notice, normal, warning } from './notice.ts';
import { invalid, pairsPart } from './pairs.ts';
import type { Need, Situation } from './situation.ts';
import { publishedHostKeys } from './ssh/published-host-keys.ts';

/** What the Secret should become: only what differs, `null` for what goes. */
export interface SecretChange {
  data: Record<string, string | null>;
  annotations: Record<string, string | null>;
}

export type Decision =
  /** Decide again with that. */
  | { type: 'needs'; what: Need }
  | { type: 'decided'; change?: SecretChange | undefined; notices: Notice[]; retry: boolean };

/**
 * What to write and what to say. An existing key is never replaced unasked, and a Secret that does not make sense is
 * reported and left as it is.
 */
export function decide(situation: Situation): Decision {
  const pairs = pairsPart(situation);
  if ('what' in pairs) return { type: 'needs', what: pairs.what };
  if ('refusal' in pairs) return { type: 'decided', notices: invalid(situation, pairs.refusal), retry: false };
  const hosts = hostsPart(situation);
  if ('what' in hosts) return { type: 'needs', what: hosts.what };

  const change = difference(situation, {
    data: { ...pairs.data, ...(hosts.knownHosts !== undefined && { known_hosts: hosts.knownHosts }) },
    annotations: { ...pairs.annotations, [TRUSTED_HOST_KEY]: hosts.trusted ?? null },
  });
  const notices = [...pairs.notices, ...hosts.notices];
  if (change !== undefined && situation.secret?.immutable === true) {
    const refusal = 'is immutable and has to be changed; create it again without "immutable"';
    return { type: 'decided', notices: invalid(situation, refusal), retry: false };
  }
  return { type: 'decided', change, notices, retry: hosts.retry };
}

interface HostsPart {
  /** What known_hosts should be; absent: as it is. */
  knownHosts?: string | undefined;
  /** The annotation about a key that was trusted on first use, which goes as soon as another source has a say. */
  trusted?: string | undefined;
  notices: Notice[];
  retry: boolean;
}

/** The config, else what the Secret has, else the published keys, else what the host shows. */
function hostsPart(situation: Situation): HostsPart | { what: Need } {
  const { repository, secret, scanned } = situation;
  const host = sshHost(repository.url);
  const kept = secret?.data.known_hosts;
  const given = repository.knownHosts === 'scan' ? undefined : repository.knownHosts;
  if (given !== undefined) return givenHosts(situation, host, given);
  if (hostKeys(kept ?? '', host).length > 0) return keptHosts(secret?.annotations[TRUSTED_HOST_KEY], host, kept ?? '');
  const published = publishedHostKeys(host);
  if (published.length > 0) return { knownHosts: added(kept, host, published), notices: [], retry: false };
  if (repository.knownHosts !== 'scan') return { notices: [missing(situation, host)], retry: false };
  if (scanned === undefined) return { what: 'scanned' };
  if (scanned === 'nothing') return { notices: [silent(situation, host)], retry: true };
  const trusted = `${hostPattern(host)} ${fingerprint(scanned)}`;
  return { knownHosts: added(kept, host, [scanned]), trusted, notices: [trust(trusted)], retry: false };
}

function givenHosts(situation: Situation, host: SshHost, given: string): HostsPart {
  // Lines for another host would only replace what works.
  if (hostKeys(given, host).length === 0) return { notices: [elsewhere(situation, host)], retry: false };
  const same = situation.secret?.data.known_hosts?.trim() === given.trim();
  return { ...(!same && { knownHosts: `${given.trim()}\n` }), notices: [], retry: false };
}

function keptHosts(trusted: string | undefined, host: SshHost, kept: string): HostsPart {
  // Said again from the annotation, so that the Event also comes when the run that wrote it was killed.
  const still = hostKeys(kept, host).some((key) => trusted === `${hostPattern(host)} ${fingerprint(key)}`);
  return still && trusted !== undefined
    ? { trusted, notices: [trust(trusted)], retry: false }
    : { notices: [], retry: false };
}

/** Lines for other hosts stay: nothing of the user's is lost. */
function added(kept: string | undefined, host: SshHost, keys: PublicKey[]): string {
  const lines = keys.map((key) => hostKeyLine(host, key));
  return `${[...(kept === undefined ? [] : [kept.trim()]), ...lines].join('\n')}\n`;
}

function difference({ secret }: Situation, wanted: SecretChange): SecretChange | undefined {
  const annotations = Object.entries(wanted.annotations).filter(
    ([name, value]) => (secret?.annotations[name] ?? null) !== value,
  );
  if (Object.keys(wanted.data).length === 0 && annotations.length === 0) return undefined;
  return { data: wanted.data, annotations: Object.fromEntries(annotations) };
}

const config = ({ namespace }: Situation) => `ConfigMap ${namespace}/${FLUX_CONFIG}`;

function trust(trusted: string): Notice {
  return normal(
    'HostKeyTrusted',
    `Trusted on first use: the host key ${trusted}; compare it with what the host's operator says.`,
  );
}

function missing(situation: Situation, host: SshHost): Notice {
  const lines = `the lines that ssh-keyscan prints for ${hostPattern(host)}`;
  return warning(
    'HostKeysMissing',
    `${config(situation)}: knownHosts: is missing, and the host is no well-known one; write ${lines}, or "scan" to trust what the host shows first.`,
  );
}

function elsewhere(situation: Situation, host: SshHost): Notice {
  return warning(
    'HostKeysMissing',
    `${config(situation)}: knownHosts: has no key for ${hostPattern(host)}; write the lines that ssh-keyscan prints for it.`,
  );
}

function silent(situation: Situation, host: SshHost): Notice {
  return warning(
    'HostKeysMissing',
    `${config(situation)}: knownHosts: ${hostPattern(host)} showed no host key; check repositoryUrl, or write the lines that ssh-keyscan prints for it.`,
  );
}

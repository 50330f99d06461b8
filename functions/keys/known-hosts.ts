import { FLUX_CONFIG, FLUX_SOURCE } from '../../shared/gardener/project-config.ts';
import { hostPattern, type SshHost, sshHost } from '../../shared/ssh/host.ts';
import { hostKeyLine, hostKeys, knownHostsSizeProblem } from '../../shared/ssh/known-hosts.ts';
import { fingerprint, type PublicKey } from '../../shared/ssh/public-key.ts';
import { TRUSTED_HOST_KEY } from './annotations.ts';
import { type Notice, normal, warning } from './notice.ts';
import type { Need, Situation } from './situation.ts';
import { publishedHostKeys } from './ssh/published-host-keys.ts';

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
export function decideKnownHosts(situation: Situation): KnownHostsDecision | { what: Need } {
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
  if (!isScanAllowed) return { notices: [missingHostKeys(situation, host)], retry: false };
  if (situation.isScanOff === true) return { notices: [scanOff(situation, host)], retry: false };
  if (scannedHostKey === undefined) return { what: 'scannedHostKey' };
  if (scannedHostKey === 'none') return { notices: [noHostKeyPresented(situation, host)], retry: true };
  const trusted = `${hostPattern(host)} ${fingerprint(scannedHostKey)}`;
  const knownHosts = withHostKeys(existing, host, [scannedHostKey]);
  return { knownHosts, trusted, notices: [trustedOnFirstUse(trusted)], retry: false };
}

function configuredHostKeys(situation: Situation, host: SshHost, configured: string): KnownHostsDecision {
  // Lines for other hosts alone would replace lines that work.
  if (hostKeys(configured, host).length === 0) return { notices: [onlyOtherHosts(situation, host)], retry: false };
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

function missingHostKeys(situation: Situation, host: SshHost): Notice {
  const lines = `the lines that ssh-keyscan prints for ${hostPattern(host)}`;
  return warning(
    'HostKeysMissing',
    `${knownHostsOf(situation)} is missing, and the host is not a well-known one; add ${lines}, or set "scan" to trust the first key that the host presents.`,
  );
}

function onlyOtherHosts(situation: Situation, host: SshHost): Notice {
  return warning(
    'HostKeysMissing',
    `${knownHostsOf(situation)} has no key for ${hostPattern(host)}; add the lines that ssh-keyscan prints for it.`,
  );
}

function scanOff(situation: Situation, host: SshHost): Notice {
  return warning(
    'HostKeysMissing',
    `${knownHostsOf(situation)} cannot be "scan", because the operators of this landscape have switched it off; add the lines that ssh-keyscan prints for ${hostPattern(host)}.`,
  );
}

function noHostKeyPresented(situation: Situation, host: SshHost): Notice {
  return warning(
    'HostKeysMissing',
    `${knownHostsOf(situation)} cannot be completed, because ${hostPattern(host)} presented no host key that this landscape may fetch; check repositoryUrl, or add the lines that ssh-keyscan prints for it.`,
  );
}

function tooLarge({ namespace }: Situation, problem: string): Notice {
  return warning('InvalidSecret', `Secret ${namespace}/${FLUX_SOURCE}: known_hosts ${problem}.`);
}

const knownHostsOf = ({ namespace }: Situation) => `ConfigMap ${namespace}/${FLUX_CONFIG}: knownHosts`;

import type { Repository } from '../../shared/config/repository.ts';
import { FLUX_CONFIG, FLUX_SOURCE } from '../../shared/gardener/project-config.ts';
import { hostPattern, type SshHost, sshHost } from '../../shared/ssh/host.ts';
import { readIdentity } from '../../shared/ssh/identity.ts';
import { hostKeyLine, hostKeys } from '../../shared/ssh/known-hosts.ts';
import { fingerprint, type PublicKey, parsePublicLine, publicLine } from '../../shared/ssh/public-key.ts';
import { publishedHostKeys } from '../../shared/ssh/published-host-keys.ts';
import { FINGERPRINT, PUBLIC_KEY, TRUSTED_HOST_KEY } from './annotations.ts';
import { keyComment } from './comment.ts';
import { type Notice, normal, warning } from './notice.ts';

/** All that is known about a private repository that is read over SSH. */
export interface Situation {
  namespace: string;
  landscape: string;
  repository: Repository;
  /** The Secret as it is, its content as text; absent: there is none. */
  secret?: { data: Record<string, string>; annotations: Record<string, string>; immutable: boolean } | undefined;
  /** A new private key, once it was asked for. */
  identity?: string | undefined;
  /** The key that the host shows, once it was asked for. */
  scanned?: PublicKey | 'nothing' | undefined;
}

/** What the Secret should become: only what differs, `null` for an annotation that goes. */
export interface SecretChange {
  data: Record<string, string>;
  annotations: Record<string, string | null>;
}

export type Decision =
  /** Decide again with that; a key is not made, nor a host asked, before it is known to be needed. */
  | { type: 'needs'; what: 'identity' | 'scanned' }
  | { type: 'decided'; change?: SecretChange | undefined; notices: Notice[]; retry: boolean };

/**
 * What to write and what to say. An existing key is never replaced, and a Secret that does not make sense is
 * reported and left as it is.
 */
export function decide(situation: Situation): Decision {
  const key = keyPart(situation);
  if ('what' in key) return { type: 'needs', what: key.what };
  if ('refusal' in key) return { type: 'decided', notices: [invalid(situation, key.refusal)], retry: false };
  const hosts = hostsPart(situation);
  if ('what' in hosts) return { type: 'needs', what: hosts.what };

  const change = difference(situation, {
    data: { ...key.data, ...(hosts.knownHosts !== undefined && { known_hosts: hosts.knownHosts }) },
    annotations: {
      [PUBLIC_KEY]: key.line,
      [FINGERPRINT]: fingerprint(key.publicKey),
      [TRUSTED_HOST_KEY]: hosts.trusted ?? null,
    },
  });
  const notices = [deployKey(situation, key), ...keyType(situation, key.publicKey), ...hosts.notices];
  if (change !== undefined && situation.secret?.immutable === true) {
    const refusal = 'is immutable but incomplete; create it again without "immutable"';
    return { type: 'decided', notices: [invalid(situation, refusal)], retry: false };
  }
  return { type: 'decided', change, notices, retry: hosts.retry };
}

interface Needs {
  what: 'identity' | 'scanned';
}

interface KeyPart {
  publicKey: PublicKey;
  /** The public line, with its comment. */
  line: string;
  data: Record<string, string>;
}

function keyPart({ secret, identity, namespace, landscape }: Situation): KeyPart | { refusal: string } | Needs {
  const existing = secret?.data.identity;
  const shown = secret?.data['identity.pub'];
  if (existing === undefined && shown !== undefined) {
    return {
      refusal:
        'has identity.pub without identity; write the private key that belongs to it into identity, or remove identity.pub',
    };
  }
  const pem = existing ?? identity;
  if (pem === undefined) return { what: 'identity' };
  const read = readIdentity(pem, existing === undefined ? undefined : secret?.data.password);
  if ('problem' in read)
    return { refusal: `identity: ${read.problem}; write a good private key, or remove identity to have one made` };
  const { publicKey } = read;
  if (shown !== undefined && parsePublicLine(shown)?.blob.equals(publicKey.blob) !== true) {
    return { refusal: 'identity.pub: does not belong to identity; remove identity.pub to have it written anew' };
  }
  const line = shown?.trim() ?? publicLine(publicKey, keyComment(namespace, landscape));
  return {
    publicKey,
    line,
    data: {
      ...(existing === undefined && { identity: pem }),
      ...(shown === undefined && { 'identity.pub': `${line}\n` }),
    },
  };
}

interface HostsPart {
  /** What known_hosts should be; absent: as it is. */
  knownHosts?: string | undefined;
  /** The annotation about a key that was trusted on first use, which goes as soon as another source has a say. */
  trusted?: string | undefined;
  notices: Notice[];
  retry: boolean;
}

/** The config, else what the Secret has, else the published keys, else what the host shows (issue: keys). */
function hostsPart(situation: Situation): HostsPart | Needs {
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

function invalid({ namespace }: Situation, problem: string): Notice {
  return warning('InvalidSecret', `Secret ${namespace}/${FLUX_SOURCE}: ${problem}.`);
}

function deployKey({ repository }: Situation, { line, publicKey }: KeyPart): Notice {
  return normal(
    'DeployKey',
    `Add this public key to ${repository.url} as a deploy key: ${line} (${fingerprint(publicKey)})`,
  );
}

function keyType({ namespace, repository }: Situation, { type }: PublicKey): Notice[] {
  if (repository.sshKeyType !== 'rsa' || type === 'ssh-rsa') return [];
  const secret = `Secret ${namespace}/${FLUX_SOURCE}`;
  return [
    warning(
      'KeyTypeIgnored',
      `${secret}: already has a key of type ${type}, which is never replaced; delete the Secret to have an RSA key made.`,
    ),
  ];
}

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

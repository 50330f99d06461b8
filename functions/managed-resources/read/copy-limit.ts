import { type Limit, limits, limitText, withCommas } from '../../../shared/config/limits.ts';
import { originOf } from '../../../shared/config/origins.ts';
import type { CopiedSecret, EffectiveConfig } from '../../../shared/config/types.ts';
import { ConfigError } from '../../../shared/errors.ts';
import type { ConfigMapContent, SecretContent } from '../../../shared/flux/release.ts';
import { lengthInContent } from '../../../shared/gardener/managed-resource-content.ts';

/** What a copy takes of the limits. */
interface Size {
  bytes: number;
  keys: number;
}

/**
 * Returns a function that counts the copies of a Shoot one by one, and throws a ConfigError at the one that exceeds a
 * limit.
 * @param project the namespace of the project, for errors
 */
export function countCopies(
  config: EffectiveConfig,
  project = '',
): (content: SecretContent | ConfigMapContent) => void {
  const total: Size = { bytes: 0, keys: 0 };
  const largest: Partial<Record<keyof Size, { content: SecretContent | ConfigMapContent; size: number }>> = {};
  return (content) => {
    const size = sizeOf(content);
    for (const what of ['bytes', 'keys'] as const) {
      total[what] += size[what];
      if (size[what] > (largest[what]?.size ?? -1)) largest[what] = { content, size: size[what] };
    }
    const { bytes = { content, size: 0 }, keys = { content, size: 0 } } = largest;
    const kib = `${withCommas(Math.ceil(bytes.size / 1024))} KiB`;
    if (total.bytes > limits.copies.most * 1024)
      throw tooMuch(config, project, bytes.content, `has ${kib}`, limits.copies);
    if (total.keys > limits.copiedKeys.most) {
      const has = `has ${withCommas(keys.size)} keys`;
      throw tooMuch(config, project, keys.content, has, limits.copiedKeys);
    }
  };
}

function sizeOf(content: SecretContent | ConfigMapContent): Size {
  const size: Size = { bytes: 0, keys: 0 };
  const { data, labels, binaryData } = content as SecretContent & ConfigMapContent;
  for (const fields of [data, labels, binaryData]) {
    for (const [key, value] of Object.entries(fields ?? {})) {
      size.bytes += key.length + lengthInContent(value);
      size.keys++;
    }
  }
  return size;
}

/** Names the largest copy: a Secret of the project itself, or the configuration that asks for it. */
function tooMuch(
  { additionalSecrets, origins }: EffectiveConfig,
  project: string,
  { namespace, name }: SecretContent | ConfigMapContent,
  has: string,
  limit: Limit,
): ConfigError {
  const isIt = (copy: CopiedSecret) => copy.targetName === name && copy.namespace === namespace;
  const { origin } = additionalSecrets.find(isIt) ?? {};
  if (origin?.type === 'project') {
    const message = `${has}, but all copies for the shoot may have at most ${limitText(limit)} together; make it smaller`;
    return new ConfigError([{ object: `Secret ${project}/${origin.name}`, path: '', message }]);
  }
  // Credentials of a source are small, so what exceeds the limit beside them are additional objects.
  const part = additionalSecrets.some((copy) => copy.origin.type !== 'project')
    ? 'additionalSecrets'
    : 'source.spec.secretRef';
  const message = `copies more than ${limitText(limit)} in all; ${namespace}/${name} alone ${has}. Copy fewer or smaller objects`;
  return new ConfigError([{ ...originOf(origins, part), message }]);
}

import { findCondition, withoutConfigHash } from '../../../shared/gardener/checked.ts';
import { isHibernated } from '../../../shared/gardener/operation.ts';
import type { Line } from '../../../shared/gardener/status-map.ts';
import { EXTENSION_TYPE, type Extension, type LastOperation, type Shoot } from '../../../shared/gardener/types.ts';
import { entriesAt, textAt } from '../../../shared/shapes.ts';
import { ageOf } from '../print.ts';
import type { Subject } from './configuration.ts';
import { kubectl, type Link, safeSentence } from './link.ts';

/** What was read about the operation of a Shoot. */
export interface Seen {
  /** Undefined: these credentials may not read it. */
  shoot: Shoot | undefined;
  /** Its line in `flux-status`; undefined: it has none, or it may not be read. */
  line: Line | undefined;
  /** Undefined: there is no kubeconfig of the seed. `missing`: the seed has none. */
  extension: Extension | 'missing' | undefined;
  /** True: the next links say more about Flux in the shoot than the line. */
  isFluxSeen: boolean;
}

type Verdict = Pick<Link, 'mark' | 'sentence' | 'command'>;

/** Explains how the last operation of the Shoot ended: for Gardener, and for our part of it. */
export function explainOperation(seen: Seen, subject: Subject, seed: readonly string[], now: Date): Link {
  const { shoot, line, extension } = seen;
  const operations = [
    ...(shoot?.status?.lastOperation ? [`Shoot: ${operationText(shoot.status.lastOperation, now)}`] : []),
    ...(line ? [`flux-status: ${lineText(line, now)}`] : []),
    ...extensionDetails(extension, now),
  ];
  const verdict =
    ofExtension(extension, shoot, seed) ??
    ofShoot(shoot, subject) ??
    ofLine(seen, subject) ??
    ({ mark: 'ok' } as const);
  const [text = 'nothing has been reported yet', ...details] = operations;
  return { name: 'Operation', text, ...verdict, details };
}

const operationText = ({ type, state, progress, lastUpdateTime }: LastOperation, now: Date) =>
  `${type} ${state} (${progress}%), ${ageOf(lastUpdateTime, now)} ago`;

function lineText({ state, since, flux }: Line, now: Date): string {
  return `${state}${since === undefined ? '' : ` for ${ageOf(since, now)}`}${flux === undefined ? '' : `, Flux ${flux}`}`;
}

function extensionDetails(extension: Seen['extension'], now: Date): string[] {
  if (extension === undefined || extension === 'missing') return [];
  const { lastOperation, state } = extension.status ?? {};
  const { applied, bootstrapped } = state ?? {};
  return [
    ...(lastOperation
      ? [`Extension: ${operationText(lastOperation, now)}: ${safeSentence(lastOperation.description)}`]
      : []),
    ...(applied
      ? [`Record: Flux ${applied.fluxVersion}, syncMode ${applied.syncMode}, configuration ${applied.configHash}`]
      : []),
    ...(bootstrapped === undefined ? [] : [`First success: ${bootstrapped.at}`]),
  ];
}

function ofExtension(
  extension: Seen['extension'],
  shoot: Shoot | undefined,
  seed: readonly string[],
): Verdict | undefined {
  if (extension === undefined) return undefined;
  const namespace = shoot?.status?.technicalID ?? '';
  const command = kubectl(['get', 'extension', EXTENSION_TYPE, '-o', 'yaml'], namespace, seed);
  if (extension === 'missing') {
    const where = `Extension ${namespace}/${EXTENSION_TYPE} does not exist in this seed`;
    const sentence = `${where}; enable the extension for the Shoot, or pass the kubeconfig of its seed ${shoot?.status?.seedName ?? ''}.`;
    return { mark: 'broken', sentence, command };
  }
  const { lastOperation, lastError } = extension.status ?? {};
  if (lastError && lastOperation?.state !== 'Processing')
    return { mark: 'broken', sentence: safeSentence(lastError.description), command };
  const kept = findCondition(extension.status ?? {}, 'ConfigurationFollowed');
  if (kept?.status === 'False')
    return { mark: 'broken', sentence: safeSentence(withoutConfigHash(kept.message)), command };
  if (lastOperation?.state === 'Succeeded') return undefined;
  const sentence = safeSentence(lastOperation?.description ?? 'shoot-flux has not reported anything yet.');
  return { mark: 'attention', sentence, command };
}

const FAILED: readonly string[] = ['Error', 'Failed', 'Aborted'];

function ofShoot(shoot: Shoot | undefined, { namespace, name, kubectl: flags }: Subject): Verdict | undefined {
  const command = kubectl(['describe', 'shoot', name], namespace, flags);
  const last = shoot?.status?.lastOperation;
  const own = shoot?.spec?.extensions?.find(({ type }) => type === EXTENSION_TYPE);
  if (own?.disabled === true) {
    const sentence = `Shoot ${namespace}/${name} disables the extension ${EXTENSION_TYPE}; remove disabled from its entry in spec.extensions.`;
    return { mark: 'broken', sentence, command };
  }
  if (last === undefined || last.state === 'Succeeded') return undefined;
  if (!FAILED.includes(last.state)) return { mark: 'attention', sentence: safeSentence(last.description), command };
  const [first] = entriesAt(shoot, 'status', 'lastErrors');
  const what = safeSentence(textAt(first, 'description') ?? last.description);
  const retry = kubectl(['annotate', 'shoot', name, 'gardener.cloud/operation=retry'], namespace, flags);
  const remedy =
    last.state === 'Failed' ? ` Gardener does not try again by itself; correct the cause, then: ${retry}` : '';
  return { mark: 'broken', sentence: `${what}${remedy}`, command };
}

function ofLine({ shoot, line, isFluxSeen }: Seen, { namespace, name, kubectl: flags }: Subject): Verdict | undefined {
  const data = `jsonpath={.data.${name}}`;
  const command = kubectl(['get', 'configmap', 'flux-status', '-o', data], namespace, flags);
  if (shoot !== undefined && isHibernated(shoot)) {
    return { mark: 'attention', sentence: 'The Shoot is hibernated; changes are applied when it wakes up.', command };
  }
  if (line === undefined) {
    const sentence = `flux-status has no line for Shoot ${name}; add the extension ${EXTENSION_TYPE} to its spec.extensions, or wait until its first operation has begun.`;
    return { mark: 'attention', sentence, command };
  }
  const { state, sentence = `Flux is ${state}.` } = line;
  if (state === 'Ready' || state === 'Hibernated') return undefined;
  // The next links show what is wrong now, and where.
  const isBroken = state === 'Not Ready' && !isFluxSeen;
  return { mark: isBroken ? 'broken' : 'attention', sentence: safeSentence(sentence), command };
}

import { fluxState } from '../../../functions/project-status/flux-state.ts';
import { findCondition, withoutConfigHash } from '../../../shared/gardener/checked.ts';
import { HIBERNATED, isHibernated } from '../../../shared/gardener/operation.ts';
import { EXTENSION_TYPE, type LastOperation, type Shoot } from '../../../shared/gardener/types.ts';
import { entriesAt, textAt } from '../../../shared/shapes.ts';
import { kubectl } from '../kubectl.ts';
import { ageOf } from '../print.ts';
import type { Subject } from './configuration.ts';
import type { Report } from './link.ts';
import type { Garden, Seed } from './read.ts';

/** What was read about the operation of a Shoot. */
export interface Seen extends Pick<Garden, 'line' | 'isLineUnseen' | 'foreign'> {
  shoot: Shoot | undefined;
  seed: Seed | string;
  /** True: the link Flux says more about it than the line in `flux-status`. */
  isFluxSeen: boolean;
}

type Verdict = Pick<Report, 'mark' | 'sentence' | 'command'>;

/** Explains how the last operation of the Shoot ended, for Gardener and for our part of it. */
export function explainOperation(seen: Seen, subject: Subject, now: Date): Report {
  const { shoot, line, seed } = seen;
  const { extension } = typeof seed === 'string' ? {} : seed;
  const { lastOperation: own, conditions = [], state: { applied, bootstrapped } = {} } = extension?.status ?? {};
  const last = shoot?.status?.lastOperation;
  const since = line?.since === undefined ? '' : ` for ${ageOf(line.since, now)}`;
  const [text = 'nothing has been reported yet', ...details] = [
    last && `Shoot: ${operationText(last, now)}`,
    line && `flux-status: ${line.state}${since}${line.flux === undefined ? '' : `, Flux ${line.flux}`}`,
    own && `Extension: ${operationText(own, now)}: ${own.description}`,
    applied && `Record: Flux ${applied.fluxVersion}, syncMode ${applied.syncMode}, configuration ${applied.configHash}`,
    ...conditions.map(({ type, status, message }) => `${type} ${status}: ${withoutConfigHash(message)}`),
    bootstrapped && `First success: ${bootstrapped.at}`,
  ].filter((report) => report !== undefined);
  const verdict = ofExtension(seen) ?? ofShoot(shoot, subject) ?? ofLine(seen, subject) ?? ({ mark: 'ok' } as const);
  return { text, details, ...verdict };
}

const operationText = ({ type, state, progress, lastUpdateTime }: LastOperation, now: Date) =>
  `${type} ${state} (${progress}%), ${ageOf(lastUpdateTime, now)} ago`;

function ofExtension({ seed, isFluxSeen }: Seen): Verdict | undefined {
  if (typeof seed === 'string') return undefined;
  const { namespace, extension } = seed;
  const command = kubectl(['get', 'extension', EXTENSION_TYPE, '-o', 'yaml'], seed);
  if (extension === undefined) {
    const sentence = `Extension ${namespace}/${EXTENSION_TYPE} does not exist in this seed; enable it for the Shoot, or pass the kubeconfig of its own seed.`;
    return { mark: 'broken', sentence, command };
  }
  const state = fluxState(extension);
  if (state.type === 'ready') return undefined;
  const { status = {} } = extension;
  const hasFailed = status.lastError != null && status.lastOperation?.state !== 'Processing';
  const isKept = findCondition(status, 'ConfigurationFollowed')?.status === 'False';
  // The next links show what a check has found.
  const isBroken = state.type === 'failing' && (hasFailed || isKept || !isFluxSeen);
  return { mark: isBroken ? 'broken' : 'attention', sentence: state.sentence, command };
}

const ownEntry = (shoot: Shoot | undefined) => shoot?.spec?.extensions?.find(({ type }) => type === EXTENSION_TYPE);

function ofShoot(shoot: Shoot | undefined, subject: Subject): Verdict | undefined {
  const { namespace, name } = subject;
  const command = kubectl(['describe', 'shoot', name], subject);
  const last = shoot?.status?.lastOperation;
  if (ownEntry(shoot)?.disabled === true) {
    const sentence = `Shoot ${namespace}/${name} disables ${EXTENSION_TYPE}; remove disabled from its entry in spec.extensions.`;
    return { mark: 'broken', sentence, command };
  }
  if (last === undefined || last.state === 'Succeeded') return undefined;
  if (last.state === 'Processing' || last.state === 'Pending') {
    return { mark: 'attention', sentence: last.description, command };
  }
  const what = textAt(entriesAt(shoot, 'status', 'lastErrors')[0], 'description') ?? last.description;
  const retry = kubectl(['annotate', 'shoot', name, 'gardener.cloud/operation=retry'], subject);
  const remedy = last.state === 'Failed' ? ` Gardener does not try again; correct the cause, then: ${retry}` : '';
  return { mark: 'broken', sentence: `${what}${remedy}`, command };
}

function ofLine(seen: Seen, subject: Subject): Verdict | undefined {
  const { shoot, line, isLineUnseen, foreign, isFluxSeen } = seen;
  const { name } = subject;
  const command = kubectl(['get', 'configmap', 'flux-status', '-o', `jsonpath={.data.${name}}`], subject);
  if (shoot !== undefined && isHibernated(shoot)) return { mark: 'attention', sentence: HIBERNATED, command };
  if (isLineUnseen) return undefined;
  if (line === undefined) {
    // The registration may enable it for all Shoots; then it has a line after its first operation.
    const isMissing = shoot?.status?.lastOperation?.state === 'Succeeded' && ownEntry(shoot) === undefined;
    if (foreign !== undefined && !isMissing) return { mark: 'attention', sentence: foreign, command };
    const remedy = isMissing
      ? `add ${EXTENSION_TYPE} to spec.extensions of the Shoot`
      : 'wait a few minutes, and look at the Events of the Shoot if there is still none';
    const sentence = `flux-status has no line for Shoot ${name}; ${remedy}.`;
    return { mark: isMissing ? 'broken' : 'attention', sentence, command };
  }
  const { state, sentence = `Flux is ${state}.` } = line;
  if (state === 'Ready' && line.sentence !== undefined) return { mark: 'attention', sentence, command };
  if (state === 'Ready' || state === 'Hibernated') return undefined;
  // The line is behind what the shoot shows: the link Flux says what is wrong now.
  if (isFluxSeen) return { mark: 'attention' };
  return { mark: state === 'Not Ready' ? 'broken' : 'attention', sentence, command };
}

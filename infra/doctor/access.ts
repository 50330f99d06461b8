import { UnreachableError } from '../../shared/kube/errors.ts';
import type { RequestInfo } from '../../shared/kube/http-client.ts';
import { connectionOf, IN_CLUSTER } from '../../shared/runtime/clusters.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { clusterName, GARDEN } from '../../shared/runtime/key.ts';
import { kubectl } from '../fleet/kubectl.ts';
import { capital } from '../fleet/print.ts';
import { connect } from '../fleet/target.ts';
import { whoAmI } from '../fleet/who.ts';
import { bad, type Finding, good, type Item, type Patient, unknown } from './finding.ts';

/** Certificates, tokens and Leases tolerate less than a minute. */
const MOST_SKEW_MS = 30_000;

/**
 * Asks a cluster who we are, and what time it is.
 * @returns no patient where the credentials do not work: nothing else of the cluster can be seen
 */
export async function access(name: string, file: string): Promise<{ items: Item[]; patient?: Patient }> {
  const cluster = capital(clusterName(name));
  const flags = file === IN_CLUSTER ? [] : ['--kubeconfig', file];
  const item = (check: string, finding: Finding): Item => ({ place: name, check, ...finding });
  let date: string | undefined;
  const onRequest = (info: RequestInfo) => {
    date = info.date;
  };
  try {
    const kube = connect(await connectionOf(file), { name: clusterName(name), onRequest });
    const start = new Date();
    const user = await whoAmI(kube);
    if (user === undefined) await kube.ask('/version');
    const skew = skewOf(date, start, new Date());
    const credentials = good(`${cluster} accepts the credentials${user ? ` of ${user}` : ''}`);
    return {
      items: [item('credentials', credentials), item('clock', skew)],
      patient: { name, place: name === GARDEN ? 'garden' : 'seed', flags, kube, user: user ?? '' },
    };
  } catch (error) {
    const isDown = error instanceof UnreachableError;
    const problem = isDown ? 'does not answer' : `does not accept the credentials of ${file}`;
    const sentence = `${cluster} ${problem}, so nothing else of it was checked: ${describeError(error)}`;
    return {
      items: [item('credentials', bad(sentence, kubectl(isDown ? ['version'] : ['auth', 'whoami'], { flags })))],
    };
  }
}

/**
 * Compares a server's clock with ours.
 * @param date when it answered, in whole seconds
 * @param start when we asked
 * @param end when the answer was there
 */
export function skewOf(date: string | undefined, start: Date, end: Date): Finding {
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return unknown('Not checked, because its answer has no Date');
  // The server answered at some time within this second, and between question and answer.
  const ahead = theirs - end.getTime();
  const behind = start.getTime() - (theirs + 1000);
  const skew = Math.max(ahead, behind);
  if (skew <= MOST_SKEW_MS) return good(`Its clock and this one differ by less than ${MOST_SKEW_MS / 1000} s`);
  const sentence = `Its clock is ${Math.round(skew / 1000)} s ${ahead > 0 ? 'ahead of' : 'behind'} this one`;
  return bad(`${sentence}; tokens and certificates fail then`, 'timedatectl status');
}

import { UnreachableError } from '../../shared/kube/errors.ts';
import { connectionOf, IN_CLUSTER } from '../../shared/runtime/clusters.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { clusterName, GARDEN } from '../../shared/runtime/key.ts';
import { kubectl } from '../fleet/kubectl.ts';
import { connect, whoAmI } from '../fleet/target.ts';
import { bad, capital, type Finding, good, type Item, type Patient, unknown } from './finding.ts';

/** Certificates, tokens and Leases tolerate less than a minute. */
const MOST_SKEW_MS = 30_000;

/** What the first request to a cluster has shown. */
export interface Access {
  items: Item[];
  /** Undefined where the credentials do not work: nothing else of the cluster can be seen. */
  patient?: Patient;
}

/** Asks a cluster who we are, and what time it is. */
export async function access(name: string, file: string, now: () => Date): Promise<Access> {
  const place = name === GARDEN ? 'garden' : 'seed';
  const flags = file === IN_CLUSTER ? [] : ['--kubeconfig', file];
  let date: string | undefined;
  const onRequest = (info: { date?: string | undefined }) => {
    date = info.date;
  };
  const item = (check: string, finding: Finding): Item => ({ place: name, check, ...finding });
  try {
    const kube = connect(await connectionOf(file), { name: clusterName(name), onRequest });
    const start = now();
    const user = await whoAmI(kube);
    if (user === undefined) await kube.ask('/version');
    const skew = skewOf(date, start, now());
    const patient: Patient = { name, place, flags, kube, user: user ?? '' };
    const credentials = good(`${capital(clusterName(name))} accepts the credentials${user ? ` of ${user}` : ''}`);
    return { items: [item('credentials', credentials), item('clock', skew)], patient };
  } catch (error) {
    return { items: [item('credentials', refused(name, file, flags, error))] };
  }
}

function refused(name: string, file: string, flags: string[], error: unknown): Finding {
  const who = capital(clusterName(name));
  const more = 'nothing else of it was checked';
  if (error instanceof UnreachableError)
    return bad(`${who} does not answer, so ${more}: ${describeError(error)}`, kubectl(['version'], { flags }));
  const remedy = kubectl(['auth', 'whoami'], { flags });
  return bad(`${who} does not accept the credentials of ${file}, so ${more}: ${describeError(error)}`, remedy);
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
  const skew = Math.max(ahead, behind, 0);
  const seconds = Math.round(skew / 1000);
  if (skew <= MOST_SKEW_MS) return good(`Its clock and this one differ by less than ${MOST_SKEW_MS / 1000} s`);
  return bad(
    `Its clock is ${seconds} s ${ahead > 0 ? 'ahead of' : 'behind'} this one; tokens and certificates fail then`,
    'timedatectl status',
  );
}

/**
 * Calls many hostile shoots at once, and prints by how many MB that has made this process grow, and the most processor
 * time that went by before a timer had its turn.
 */

import { shootLimits } from '../../shared/kube/answer-limits.ts';
import { createKubeClient } from '../../shared/kube/http-client.ts';
import { resources } from '../../shared/kube/resource.ts';
import { createTurns } from '../../shared/turns.ts';

const [server = '', count = '1'] = process.argv.slice(2);
const largeAnswers = createTurns(4);
const call = async (shoot: number) => {
  const options = { name: 'the shoot', limits: shootLimits, largeAnswers, timeoutMs: 4000, connectTimeoutMs: 4000 };
  const client = createKubeClient({ server, insecure: true }, options);
  const find = () => client.find(resources.configMaps, { namespace: 'a', name: String(shoot) });
  const ended = await Promise.allSettled([find(), find()]);
  client.close();
  return ended.map((result) => (result.status === 'rejected' ? String(result.reason.message) : 'resolved'));
};

await call(0);
globalThis.gc?.();
const before = process.memoryUsage.rss();
let most = before;
// Memory in use: V8 frees Buffers only once 64 MB of them are garbage, however many answers were read.
const sampling = setInterval(() => {
  globalThis.gc?.();
  most = Math.max(most, process.memoryUsage.rss());
}, 20);
const cpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};
let last = cpuMs();
let longestMs = 0;
const turns = setInterval(() => {
  const now = cpuMs();
  longestMs = Math.max(longestMs, now - last);
  last = now;
}, 1);
const answers = await Promise.all(Array.from({ length: Number(count) }, (_, shoot) => call(shoot)));
clearInterval(sampling);
clearInterval(turns);
const sentences = [...new Set(answers.flat().map((text) => text.replace(/a\/\d+/, 'a/n').replace(/:\d+\)/, ')')))];
const grownMb = Math.round((most - before) / 1024 / 1024);
process.stdout.write(JSON.stringify({ grownMb, longestMs, sentences }));

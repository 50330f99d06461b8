// A poller in a process of its own, which a test kills: node poller-process.ts ENDPOINT QUEUE_URL NAME SECONDS
import { createLog } from '../../shared/runtime/log.ts';
import { lazySqs } from './connect.ts';
import { startPoller } from './poller.ts';

const [, , endpoint, queueUrl = '', name = '', seconds] = process.argv;
startPoller({
  name,
  queueUrl,
  sqs: await lazySqs({ endpoint })(),
  log: createLog(),
  concurrency: 1,
  waitSeconds: 1,
  ...(seconds === undefined ? {} : { visibilitySeconds: Number(seconds) }),
  lambda() {
    process.stdout.write('running\n');
    return new Promise(() => {});
  },
});

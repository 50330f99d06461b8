import { openSqsBridge } from '../../../events/sqs/bridge.ts';
import { partsOf, type StartApart } from './apart.ts';
import { startCountedQueue } from './queue-counts.ts';

/** As long as AWS waits for messages. `run` waits for a second, which on a fast clock is all that it does. */
const WAIT_SECONDS = 20;

/** Starts watcher and functions with queues in SQS. The code of the Lambdas handles the messages. */
export const startOnSqs: StartApart = async (connection, log) => {
  const { endpoint, counts } = await startCountedQueue();
  const { functions, definitions, dependenciesOf, watch } = await partsOf(connection, log);
  const bridge = await openSqsBridge({ definitions, log, endpoint });
  bridge.start(functions, ({ name }) => dependenciesOf(name), { waitSeconds: WAIT_SECONDS });
  watch((changes) => bridge.sender.send(changes));
  return () => ({ ...counts(), events: 0 });
};

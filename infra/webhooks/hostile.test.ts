import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { eventually } from '@shoot-flux/landscape/eventually';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keptLog } from '../../events/testing.ts';
import { reviewOf } from '../../shared/kube/testing.ts';
import { noMetrics } from '../../shared/runtime/metrics.ts';
import { findWebhooks } from '../functions.ts';
import { type AnswerDependencies, answererOf } from './answer.ts';
import { type KeyPair, renewed } from './certificates.ts';
import { pathTokensOf } from './path-token.ts';
import { startWebhookServer } from './server.ts';

const token = 'f'.repeat(64);

const hash = createHash('sha256').update(token).digest('hex');

const { log, lines } = keptLog();
const asked: string[] = [];
const dependencies: AnswerDependencies = {
  kube: async (cluster) => {
    asked.push(cluster);
    throw new Error('there is no cluster');
  },
  settings: { seeds: ['local'] },
  log,
  metrics: noMetrics,
};

let certificate: KeyPair;
let open: Awaited<ReturnType<typeof startWebhookServer>>;
let closed: Awaited<ReturnType<typeof startWebhookServer>>;
beforeAll(async () => {
  const now = new Date();
  certificate = (await renewed(undefined, ['127.0.0.1'], now)).serving;
  const served = (await findWebhooks()).map((webhook) => ({
    definition: webhook.definition,
    answer: answererOf(webhook, dependencies),
  }));
  open = await startWebhookServer({ port: 0, served });
  closed = await startWebhookServer({ port: 0, served, tokens: pathTokensOf('token', hash) });
  for (const server of [open, closed]) server.use(certificate);
});
afterAll(() => Promise.all([open.stop(), closed.stop()]));

const review = (asked: object, more?: object) => reviewOf({ object: { kind: 'Shoot', metadata: {} }, ...asked }, more);

const json = { 'content-type': 'application/json' };

/** Posts like an API server. */
async function post(
  path: string,
  body: string | Buffer,
  headers: object = json,
  { port } = open,
  agent: Agent | false = false,
) {
  const sent = httpsRequest({
    ...{ host: '127.0.0.1', port, path, method: 'POST', rejectUnauthorized: false, agent },
    headers: { ...headers },
  });
  const answered = once(sent, 'response');
  // The server may answer and close before it has read everything.
  sent.on('error', () => {});
  sent.end(body);
  const [response] = await answered;
  return { status: response.statusCode as number, body: await text(response) };
}

/** Opens a connection; `answer` is what arrives until the server closes it. */
async function raw(): Promise<{ socket: TLSSocket; answer: Promise<string> }> {
  const socket = connect({ host: '127.0.0.1', port: open.port, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  socket.on('error', () => {});
  let received = '';
  socket.on('data', (data) => (received += data));
  return { socket, answer: once(socket, 'close').then(() => received) };
}

const head = 'POST /admission HTTP/1.1\r\nhost: a\r\n';

const resourceManager = (image: string, args: string[] = []) => ({
  metadata: { name: 'gardener-resource-manager' },
  spec: { template: { spec: { containers: [{ name: 'gardener-resource-manager', image, args }] } } },
});

describe('a hostile request', () => {
  it.each<[string, string | Buffer, object, number, string]>([
    ['too long', Buffer.alloc(9_000_000, ' '), {}, 413, 'The body is longer than 6291456 bytes.\n'],
    [
      'too long, in parts',
      Buffer.alloc(7_000_000, ' '),
      { 'transfer-encoding': 'chunked' },
      413,
      'The body is longer than 6291456 bytes.\n',
    ],
    ['not JSON', Buffer.from([0xff, 0xfe, 0x00, 0x22]), {}, 400, 'The body is not JSON: post an AdmissionReview.\n'],
    ['nested deeply', '['.repeat(6_000_000), {}, 400, 'The body is not JSON: post an AdmissionReview.\n'],
    [
      'of another version',
      review({}, { apiVersion: 'admission.k8s.io/v1beta1' }),
      {},
      400,
      'The body is not an AdmissionReview of admission.k8s.io/v1: list v1 in admissionReviewVersions.\n',
    ],
    ['without a uid', review({ uid: null }), {}, 400, 'request.uid is not a string: every request needs a uid.\n'],
    [
      'with a long uid',
      review({ uid: 'u'.repeat(1e6) }),
      {},
      400,
      'A name in the request is longer than 253 characters.\n',
    ],
    ['of a terabyte', '{}', { 'content-length': 1e12 }, 413, 'The body is longer than 6291456 bytes.\n'],
    ['with long headers', '{}', { 'x-long': 'x'.repeat(30_000) }, 431, ''],
  ])('that is %s is answered with one sentence', async (_, body, headers, status, sentence) => {
    expect(await post('/admission', body, { ...json, ...headers })).toEqual({ status, body: sentence });
  });

  it('with a key twice is answered by the last one, and with a prototype like any other', async () => {
    const body = review({}).replace('"uid":"u"', '"uid":"first","__proto__":{"uid":"x"},"uid":"last"');
    expect(JSON.parse((await post('/admission', body)).body).response.uid).toBe('last');
  });

  it('cannot bring hundreds of thousands of namespaces into an answer', async () => {
    const args = Array.from({ length: 40_000 }, (_, index) => `--extra-target-namespace=n${index}`);
    const [object, oldObject] = [args, args.map((argument) => `${argument}-b`)].map((given) =>
      resourceManager('x:v1.150.0', given),
    );
    const body = review({ namespace: 'shoot--foo--bar', object, oldObject });
    const { response } = JSON.parse((await post('/resource-manager', body)).body);
    expect(JSON.parse(Buffer.from(response.patch, 'base64').toString())).toHaveLength(51);
    expect(response.warnings).toContain(
      'shoot-flux: gardener-resource-manager: 39950 target namespaces of the former Deployment were not kept: at most 50 are',
    );
  });

  it('with a very long image is answered with a short warning', async () => {
    const object = resourceManager(`x:${'y'.repeat(1e6)}`);
    const { body } = await post('/resource-manager', review({ namespace: 'shoot--foo--bar', object }));
    expect(body.length).toBeLessThan(1000);
    expect(body).toContain('is not a version');
  });

  it.each(['', '../../api/v1/secrets', 'A', 'a/b', `${'a'.repeat(64)}`])(
    'for namespace "%s" reads nothing',
    async (namespace) => {
      asked.length = 0;
      const { body } = await post('/resource-manager', review({ namespace, object: resourceManager('x:v1.150.0') }));
      expect(JSON.parse(body).response).toEqual({
        uid: 'u',
        allowed: true,
        warnings: ['shoot-flux: request.namespace is not the name of a namespace; nothing was added'],
      });
      expect(asked).toEqual([]);
    },
  );
});

describe('a hostile client', () => {
  it('that sends headers or a body slowly is disconnected before an API server would be', async () => {
    const [slowHead, slowBody, silent] = await Promise.all([raw(), raw(), raw()]);
    slowHead.socket.write(head);
    slowBody.socket.write(`${head}content-length: 1000\r\n\r\n{`);
    const drip = setInterval(() => {
      slowHead.socket.write('x-a: b\r\n');
      slowBody.socket.write(' ');
    }, 500);
    const answers = await Promise.all([slowHead, slowBody, silent].map(({ answer }) => answer));
    clearInterval(drip);
    const [first, second, third] = answers.map((given) => given.split('\r\n')[0]);
    const timeout = 'HTTP/1.1 408 Request Timeout';
    expect(third).toBe(timeout);
    // The answer is lost when the connection closes while the client still writes.
    for (const one of [first, second]) expect(['', timeout]).toContain(one);
  });

  it('that sends many large bodies at once does not fill the memory', async () => {
    const [definition] = (await findWebhooks()).map((webhook) => webhook.definition);
    const ended = Promise.withResolvers<void>();
    let held = 0;
    const hold = async () => {
      held += 1;
      await ended.promise;
      return { status: 200, contentType: 'text/plain', body: 'held' };
    };
    const server = await startWebhookServer({ port: 0, served: definition ? [{ definition, answer: hold }] : [] });
    server.use(certificate);
    // The answer is lost when the connection closes while the client still writes.
    const send = (bytes: number, agent: Agent | false = false) =>
      post(definition?.webhook.path ?? '', Buffer.alloc(bytes, ' '), json, server, agent).catch(() => undefined);
    const all = Array.from({ length: 8 }, () => send(6 * 1024 * 1024));
    await eventually('eight bodies', async () => held === 8);
    const refusal = 'There are too many large requests at once; send it again.\n';
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await eventually('no room', async () => (await send(700_000, agent))?.body === refusal);
    // Small ones need no room, also on the connection of a refused one.
    const small = send(1000, agent);
    await eventually('the small one', async () => held === 9);
    ended.resolve();
    expect((await Promise.all([...all, small])).map((each) => each?.body)).toEqual(Array(9).fill('held'));
    expect((await send(700_000))?.body).toBe('held');
    agent.destroy();
    await server.stop();
  });
});

describe('webhooks with a token', () => {
  it('answer at the path with the token, which they never log', async () => {
    lines.length = 0;
    const { status, body } = await post(`/admission/${token}?timeout=10s`, review({}), json, closed);
    expect({ status, uid: JSON.parse(body).response.uid }).toEqual({ status: 200, uid: 'u' });
    await post(`/admission/${token}`, '{', json, closed);
    expect(lines.length).toBeGreaterThan(0);
    expect(JSON.stringify(lines)).not.toContain(token.slice(0, 16));
  });

  it.each(['/resource-manager', `/admission/${token}/`, `/elsewhere/${token}`, `/resource-manager/${hash}`])(
    'reveal nothing at %s, and read nothing',
    async (path) => {
      asked.length = 0;
      lines.length = 0;
      expect(await post(path, review({ namespace: 'shoot--foo--bar' }), json, closed)).toEqual({
        status: 404,
        body: 'Not found.\n',
      });
      expect([asked, lines]).toEqual([[], []]);
    },
  );
});

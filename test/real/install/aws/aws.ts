import { createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answersOk, startReady } from '../../cluster/start.ts';
import { awsTools } from '../../tools/aws-tools.ts';
import { runProgram } from '../../tools/cache.ts';
import { accountIn } from './account.ts';
import { startIssuer } from './issuer.ts';
import { startStandIn } from './stand-in.ts';

type Keys = () => Promise<{ keys: JsonWebKey[] }>;

/** An empty account of AWS on loopback. */
export type Aws = Awaited<ReturnType<typeof startAws>>;

/** Starts moto with an empty account, the account's issuer of tokens, and the stand-in that enforces policies. */
export async function startAws() {
  const tools = await awsTools();
  const [command = '', ...args] = tools.moto;
  const { program, ports } = await startReady({
    name: 'moto',
    ports: 1,
    prepare: async (_, ports) => ({ command, args: [...args, '-p', String(ports[0])] }),
    ready: (_, ports) => answersOk(`http://127.0.0.1:${ports[0]}/moto-api/data.json`),
  });
  const moto = `http://127.0.0.1:${ports[0]}`;
  const folder = await mkdtemp(join(tmpdir(), 'shoot-flux-aws-'));
  const issuer = await startIssuer();
  const account = accountIn(moto);
  const keysOf = new Map<string, Keys>();
  const standIn = await startStandIn({
    moto,
    issuer,
    policiesOf: account.policiesOf,
    detachPolicies: account.detachPolicies,
    verify: (token) => verified(token, keysOf),
  });
  await mkdir(join(folder, 'bin'));
  await writeFile(join(folder, 'bin/aws'), `#!/bin/sh\nexec ${tools.aws.join(' ')} "$@"\n`, { mode: 0o755 });
  return {
    ...standIn,
    issuer,
    account,
    /** A folder with `aws`, AWS's command line, for PATH. */
    bin: join(folder, 'bin'),
    /** Checks a template against AWS's schemas. @throws Error with what is wrong */
    async lint(template: string) {
      const [command = '', ...args] = tools.cfnLint;
      await runProgram(command, [...args, '--non-zero-exit-code', 'error', template], folder);
    },
    /** Trusts the tokens of an issuer, whose keys are fetched as AWS does. */
    trustKeysOf: (name: string, keys: Keys) => void keysOf.set(name, keys),
    async stop() {
      await standIn[Symbol.asyncDispose]();
      await issuer[Symbol.asyncDispose]();
      await program.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** Verifies the signature and the time of a token, as AWS does before it looks at a role's trust policy. */
async function verified(token: string, keysOf: Map<string, Keys>) {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  const { iss, aud, sub, exp } = decode(payload) as { iss: string; aud: string | string[]; sub: string; exp: number };
  const { kid } = decode(header) as { kid: string };
  const keys = (await keysOf.get(iss)?.())?.keys ?? [];
  const jwk = keys.find((key) => key.kid === kid);
  if (jwk === undefined) throw new Error(`No key ${kid} of ${iss}.`);
  const key = { key: createPublicKey({ format: 'jwk', key: jwk }), dsaEncoding: 'ieee-p1363' as const };
  const isValid = verify('sha256', Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'));
  if (!isValid || exp < Date.now() / 1000) throw new Error('The token is not valid.');
  return { iss, aud: [aud].flat(), sub };
}

import { ShootFluxError } from '../errors.ts';
import { CALL_MS, type Stop } from './call-limit.ts';
import { CONNECT_MS, CONNECT_TIMEOUT } from './connect.ts';
import { UnreachableError } from './errors.ts';
import { callText } from './status-error.ts';
import type { Request, Transport } from './transport.ts';

const REMEDY = 'check the address, the network path and the certificate authority';

/** Returns the error for a missing or incomplete answer. */
export function unreachable(
  { server, options }: Transport,
  request: Request,
  error: unknown,
  signal: AbortSignal,
): ShootFluxError {
  if (error instanceof ShootFluxError) return error;
  const stop: Stop | undefined = signal.aborted ? signal.reason : undefined;
  if (stop?.by === 'down') return stop.error;
  const seconds = (ms: number) => `${ms / 1000} s`;
  const without = (what: string, reason?: string) => {
    const details = [...(options.name === undefined ? [] : [server.host]), ...(reason === undefined ? [] : [reason])];
    const suffix = details.length === 0 ? '' : ` (${details.join(', ')})`;
    return `${callText(request)}: ${what} ${options.name ?? server.host}${suffix}`;
  };
  if (stop?.by === 'turn') {
    return new UnreachableError(`${without('no complete answer from')} while others waited`, 0, 'TooSlow');
  }
  if (stop !== undefined && stop.by !== 'limit') {
    return new UnreachableError(`${without('no answer from')} before the time limit of this run`, 0, 'Aborted');
  }
  if (stop !== undefined) {
    return new UnreachableError(
      `${without('no answer from')} within ${seconds(options.timeoutMs ?? CALL_MS)}`,
      0,
      'Timeout',
    );
  }
  const code = (error as { code?: unknown } | undefined)?.code;
  const reason = typeof code === 'string' ? code : 'NoAnswer';
  if (reason === CONNECT_TIMEOUT) {
    const limit = seconds(options.connectTimeoutMs ?? CONNECT_MS);
    return new UnreachableError(`${without('no connection to')} within ${limit}: ${REMEDY}`, 0, reason);
  }
  // The HTTP parser's codes: headers of more than 16 KiB, broken chunks.
  if (reason.startsWith('HPE_')) {
    const sentence = `${without('no valid HTTP from', reason)}: check whether its address is that of an API server`;
    return new UnreachableError(sentence, 0, 'InvalidAnswer');
  }
  // Nothing was sent: Node could not read a PEM text, or would not send the token.
  if (reason.startsWith('ERR_OSSL_') || reason === 'ERR_INVALID_CHAR') {
    const sentence = `${without('no request to', reason)}: check the certificate, key and token in its kubeconfig`;
    return new UnreachableError(sentence, 0, reason);
  }
  return new UnreachableError(`${without('no answer from', reason)}: ${REMEDY}`, 0, reason);
}

import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';

/** The part of Lambda's context that says whose invocation this is and how much of its time is left. */
export function lambdaContext(name: string, timeoutSeconds: number): Context {
  const end = performance.now() + timeoutSeconds * 1000;
  return {
    functionName: name,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:local:000000000000:function:${name}`,
    memoryLimitInMB: '0',
    awsRequestId: randomUUID(),
    logGroupName: name,
    logStreamName: '',
    callbackWaitsForEmptyEventLoop: false,
    getRemainingTimeInMillis: () => end - performance.now(),
    done() {},
    fail() {},
    succeed() {},
  };
}

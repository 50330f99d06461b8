import { describe, expect, it } from 'vitest';
import { isAllowed, type Statement, type Wanted } from './policy.ts';

const send: Wanted = { action: 'sqs:SendMessage', resource: 'arn:aws:sqs:r:1:a-keys.fifo', context: {} };
const statement = (more: Partial<Statement> = {}): Statement => ({
  Effect: 'Allow',
  Action: ['sqs:SendMessage'],
  Resource: ['arn:aws:sqs:r:1:a-keys.fifo'],
  ...more,
});

describe('policies of the stand-in for AWS', () => {
  it('allow what a statement names, and nothing else', () => {
    expect(isAllowed([statement()], send)).toBe(true);
    expect(isAllowed([], send)).toBe(false);
    expect(isAllowed([statement()], { ...send, action: 'sqs:ReceiveMessage' })).toBe(false);
    expect(isAllowed([statement()], { ...send, resource: 'arn:aws:sqs:r:1:a-keysXfifo' })).toBe(false);
    expect(isAllowed([statement({ Resource: 'arn:aws:sqs:*' })], send)).toBe(true);
    expect(isAllowed([statement(), statement({ Effect: 'Deny', Action: 'sqs:*' })], send)).toBe(false);
  });

  it('compare conditions, and fail where the request lacks the key', () => {
    const token: Wanted = {
      action: 'sts:GetWebIdentityToken',
      resource: '*',
      context: { 'sts:IdentityTokenAudience': ['a/garden'], 'sts:DurationSeconds': ['300'] },
    };
    const permits = (Condition: NonNullable<Statement['Condition']>) =>
      isAllowed([{ Effect: 'Allow', Action: 'sts:GetWebIdentityToken', Resource: '*', Condition }], token);
    expect(permits({ 'ForAllValues:StringLike': { 'sts:IdentityTokenAudience': 'a/*' } })).toBe(true);
    expect(permits({ 'ForAllValues:StringLike': { 'sts:IdentityTokenAudience': 'b/*' } })).toBe(false);
    expect(permits({ NumericLessThanEquals: { 'sts:DurationSeconds': 300 } })).toBe(true);
    expect(permits({ NumericLessThanEquals: { 'sts:DurationSeconds': 60 } })).toBe(false);
    expect(permits({ StringEquals: { 'sts:SigningAlgorithm': 'ES384' } })).toBe(false);
    expect(() => permits({ StringNotEquals: { x: 'y' } })).toThrow('StringNotEquals');
  });
});

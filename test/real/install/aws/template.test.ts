import { expect, it } from 'vitest';
import { forMoto, type Template } from './template.ts';

const template: Template = {
  Resources: {
    Policy: { Type: 'AWS::IAM::ManagedPolicy', Properties: { PolicyDocument: { Statement: [] } } },
    Role: { Type: 'AWS::IAM::Role', Properties: { RoleName: 'r', ManagedPolicyArns: [{ Ref: 'Policy' }] } },
    Url: { Type: 'AWS::Lambda::Url', Properties: {} },
  },
  Outputs: { Address: { Value: { 'Fn::GetAtt': ['Url', 'FunctionUrl'] } }, Name: { Value: { Ref: 'Role' } } },
};

it('gives moto the attachment of a policy from its other side, and leaves out what moto cannot deploy', () => {
  expect(forMoto(template)).toEqual({
    Resources: {
      Policy: {
        Type: 'AWS::IAM::ManagedPolicy',
        Properties: { PolicyDocument: { Statement: [] }, Roles: [{ Ref: 'Role' }] },
      },
      Role: { Type: 'AWS::IAM::Role', Properties: { RoleName: 'r' } },
    },
    Outputs: { Name: { Value: { Ref: 'Role' } } },
  });
});

it('does not lose a policy that is not in the template', () => {
  const { Role } = template.Resources;
  if (Role === undefined) throw new Error('no role');
  expect(() => forMoto({ Resources: { Role } })).toThrow('Role names Policy, which is no policy.');
});

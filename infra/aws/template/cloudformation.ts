/** Prefix of all names of a deployment, so that several have no queue in common; osls replaces the variables. */
export const PREFIX = `\${param:prefix, 'shoot-flux'}-\${sls:stage}-`;

/** A resource, output or function of the template with its logical id. */
export type Named = readonly [id: string, properties: object];

/** A statement of a policy that allows actions on resources. */
export function allow(Action: string[], Resource: unknown[], Condition?: object): object {
  return { Effect: 'Allow', Action, Resource, ...(Condition !== undefined && { Condition }) };
}

/** A policy of these statements. */
export function policy(...Statement: object[]): object {
  return { Version: '2012-10-17', Statement };
}

/** The ARN of a resource of the template. */
export function arn(id: string): object {
  return { 'Fn::GetAtt': [id, 'Arn'] };
}

/** A text in which CloudFormation replaces `${AWS::Region}` and the like. */
export function sub(text: string): object {
  return { 'Fn::Sub': text };
}

/** `managed-resources` -> `ManagedResources`. */
export function logicalId(name: string): string {
  return name.replace(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

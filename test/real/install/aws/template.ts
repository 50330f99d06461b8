/** A template of CloudFormation. */
export interface Template {
  Resources: Record<string, Resource>;
  Outputs?: Record<string, object>;
}

interface Resource {
  Type: string;
  Properties: Record<string, unknown>;
  DependsOn?: string | string[];
}

/** Resource types that moto does not know. Others, such as alarms, it passes over. */
const unsupported = ['AWS::Lambda::Url'];

/** Returns the template as moto can deploy it, with the same meaning as far as moto knows the resources. */
export function forMoto(template: Template): Template {
  return withPoliciesAttached(withoutUnsupported(template));
}

/** Returns the template without what moto cannot deploy, and without the outputs that refer to it. */
function withoutUnsupported(template: Template): Template {
  const gone = Object.entries(template.Resources).flatMap(([id, { Type }]) => (unsupported.includes(Type) ? [id] : []));
  const refersToGone = (output: object) => gone.some((id) => JSON.stringify(output).includes(`"${id}"`));
  return {
    ...template,
    Resources: Object.fromEntries(Object.entries(template.Resources).filter(([id]) => !gone.includes(id))),
    Outputs: Object.fromEntries(Object.entries(template.Outputs ?? {}).filter(([, output]) => !refersToGone(output))),
  };
}

/** moto passes over the managed policies that a role names; that a policy names its roles says the same. */
function withPoliciesAttached(template: Template): Template {
  const resources = structuredClone(template.Resources);
  for (const [id, { Type, Properties }] of Object.entries(resources)) {
    if (Type !== 'AWS::IAM::Role') continue;
    const { ManagedPolicyArns = [] } = Properties as { ManagedPolicyArns?: { Ref: string }[] };
    for (const { Ref } of ManagedPolicyArns) {
      const policy = resources[Ref];
      if (policy?.Type !== 'AWS::IAM::ManagedPolicy') throw new Error(`${id} names ${Ref}, which is no policy.`);
      const { Roles = [] } = policy.Properties as { Roles?: object[] };
      policy.Properties.Roles = [...Roles, { Ref: id }];
    }
    delete Properties.ManagedPolicyArns;
  }
  return { ...template, Resources: resources };
}

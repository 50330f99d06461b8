/** A requirement of `matchExpressions`. */
export interface Requirement {
  key: string;
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  values?: string[] | undefined;
}

/** A label selector of Kubernetes. */
export interface LabelSelector {
  matchLabels?: Record<string, string> | undefined;
  matchExpressions?: Requirement[] | undefined;
}

type Labels = Readonly<Record<string, string>>;

/** True when labels fulfil every requirement of a selector, as Kubernetes reads it; an empty one selects everything. */
export function isSelected(labels: Labels, { matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  const labelAt = (key: string) => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  return (
    Object.entries(matchLabels).every(([key, value]) => labelAt(key) === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labelAt(key);
      const isListed = value !== undefined && values.includes(value);
      const isTrue = { In: isListed, NotIn: !isListed, Exists: value !== undefined, DoesNotExist: value === undefined };
      return isTrue[operator];
    })
  );
}

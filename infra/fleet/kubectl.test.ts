import { expect, it } from 'vitest';
import { kubectl } from './kubectl.ts';

it('a kubectl command names cluster and namespace last, and quotes what a shell would change', () => {
  const flags = ['--kubeconfig', "/home/mia/it's mine"];
  expect(kubectl(['get', 'pods', '-l', 'app=x'], { flags, namespace: 'garden-foo' })).toBe(
    "kubectl get pods -l app=x --namespace garden-foo --kubeconfig '/home/mia/it'\\''s mine'",
  );
  expect(kubectl(['version'], { flags: [] })).toBe('kubectl version');
});

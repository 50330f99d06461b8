/** The namespaces of Kubernetes itself, where no other software belongs. */
export const KUBERNETES_NAMESPACES: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease'];

/** The namespaces that every cluster has: those of Kubernetes itself, and `default`, which anything may use. */
export const SYSTEM_NAMESPACES: readonly string[] = ['default', ...KUBERNETES_NAMESPACES];

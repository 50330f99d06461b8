/** ManagedResources of 23technologies' extension; they are released before ours are written (design 5). */
export const legacyNames = ['extension-shoot-flux-flux-install', 'extension-shoot-flux-flux-config'];

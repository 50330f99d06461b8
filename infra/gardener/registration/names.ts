/** Name of the ControllerRegistration and ControllerDeployment; names of installations begin with it. */
export const REGISTRATION = 'shoot-flux';

{{/*
"true" where the Pods get an account of their own in the garden, which gardenlet creates for the Secret in
garden-access.yaml. With the account that gardenlet injects, `extension-…`, the webhook seed-restriction refuses the
Secret flux-source and the ConfigMap flux-status.
*/}}
{{- define "shoot-flux.hasGardenAccount" -}}
{{- $gardener := .Values.gardener | default dict -}}
{{- $own := .Values.kubeconfigs.garden.secretName -}}
{{- range .Values.env }}{{ if eq .name "GARDEN_KUBECONFIG" }}{{ $own = .name }}{{ end }}{{ end -}}
{{- if and (($gardener.garden).genericKubeconfigSecretName) (not $own) }}true{{ end -}}
{{- end -}}

{{/* Name of the account. In a self-hosted Shoot gardenlet may create none without this prefix. */}}
{{- define "shoot-flux.gardenAccess.account" -}}
{{- if .Values.gardener.selfHostedShootCluster }}extension-shoot--{{ .Values.gardener.shoot.name }}--{{ end }}shoot-flux
{{- end -}}

{{/* Name of the Secret for which gardenlet creates the account, and into which it writes its tokens. */}}
{{- define "shoot-flux.gardenAccess.secretName" -}}
{{- printf "garden-access-%s" (include "shoot-flux.fullname" .) -}}
{{- end -}}

{{/* Labels of a Deployment: gardenlet need not make a second account. */}}
{{- define "shoot-flux.gardenAccess.labels" -}}
{{- if include "shoot-flux.hasGardenAccount" . -}}
extensions.gardener.cloud/inject-garden-kubeconfig: "false"
{{- end -}}
{{- end -}}

{{/* Annotations of a Deployment and its Pods: Gardener deletes a generic kubeconfig that no object refers to. */}}
{{- define "shoot-flux.gardenAccess.annotations" -}}
{{- if include "shoot-flux.hasGardenAccount" . -}}
{{- $name := .Values.gardener.garden.genericKubeconfigSecretName -}}
reference.resources.gardener.cloud/secret-{{ sha256sum $name | trunc 8 }}: {{ $name }}
{{- end -}}
{{- end -}}

{{/* Where the generic kubeconfig expects its token. */}}
{{- define "shoot-flux.gardenAccess.folder" -}}
/var/run/secrets/gardener.cloud/garden/generic-kubeconfig
{{- end -}}

{{/* The volume with the kubeconfig of the garden; nothing where gardenlet injects it. */}}
{{- define "shoot-flux.gardenAccess.volume" -}}
{{- with .Values.kubeconfigs.garden.secretName }}
- name: garden-kubeconfig
  secret:
    secretName: {{ . }}
{{- end }}
{{- if include "shoot-flux.hasGardenAccount" . }}
- name: garden-kubeconfig
  projected:
    sources:
      - secret:
          name: {{ .Values.gardener.garden.genericKubeconfigSecretName }}
          items:
            - key: kubeconfig
              path: kubeconfig
      - secret:
          name: {{ include "shoot-flux.gardenAccess.secretName" . }}
          items:
            - key: token
              path: token
{{- end }}
{{- end -}}

{{/* The mount of this volume. */}}
{{- define "shoot-flux.gardenAccess.mount" -}}
{{- $folder := ternary (include "shoot-flux.gardenAccess.folder" .) "/etc/shoot-flux/kubeconfigs/garden" (eq (include "shoot-flux.hasGardenAccount" .) "true") }}
{{- if or .Values.kubeconfigs.garden.secretName (include "shoot-flux.hasGardenAccount" .) }}
- name: garden-kubeconfig
  mountPath: {{ $folder }}
  readOnly: true
{{- end }}
{{- end -}}

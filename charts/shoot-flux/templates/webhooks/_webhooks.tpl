{{/* "true" where this release serves the webhook of the resource-managers: for the seed that the Pods run in. */}}
{{- define "shoot-flux.servesWebhooks" -}}
{{- $config := include "shoot-flux.config" . | fromYaml -}}
{{- $isHere := or (not .Values.kubeconfigs.seeds) (has "in-cluster" (values ($config.seeds | default dict))) -}}
{{- if and .Values.webhooks.enabled $isHere }}true{{ end -}}
{{- end -}}

{{/* Name of the objects of the webhooks in the namespace of the release. */}}
{{- define "shoot-flux.webhooks.name" -}}
{{- printf "%s-webhooks" (include "shoot-flux.fullname" .) -}}
{{- end -}}

{{/* Name of the Secret with the certificates. */}}
{{- define "shoot-flux.webhooks.secretName" -}}
{{- printf "%s-certificates" (include "shoot-flux.webhooks.name" .) -}}
{{- end -}}

{{/*
Name of the webhook configuration. A resource-manager creates it and never updates it, or it would remove the caBundle;
so other content gets another name.
*/}}
{{- define "shoot-flux.webhooks.configurationName" -}}
{{- $content := printf "%s %s %s" .Release.Namespace (include "shoot-flux.webhooks.name" .) (.Files.Get "webhooks.yaml") -}}
{{- printf "gardener-extension-shoot-flux-%s" (sha256sum $content | trunc 8) -}}
{{- end -}}

{{/* Name of the Service, as API servers call it. */}}
{{- define "shoot-flux.webhooks.host" -}}
{{- printf "%s.%s.svc" (include "shoot-flux.webhooks.name" .) .Release.Namespace -}}
{{- end -}}

{{/* The configuration file of the webhooks. */}}
{{- define "shoot-flux.webhooks.config" -}}
{{- $all := include "shoot-flux.config" . | fromYaml -}}
{{- $config := pick $all "garden" "logLevel" "defaults" "policy" -}}
{{- $seeds := dict -}}
{{- range $name, $source := $all.seeds }}{{ if eq $source "in-cluster" }}{{ $_ := set $seeds $name $source }}{{ end }}{{ end -}}
{{- if $seeds }}{{ $_ := set $config "seeds" $seeds }}{{ end -}}
{{- $_ := set $config "port" 8080 -}}
{{- $_ := set $config "webhookPort" 8443 -}}
{{- $_ := set $config "webhookFunction" (list "resource-manager-webhook") -}}
{{- $_ := set $config "webhookConfiguration" (include "shoot-flux.webhooks.configurationName" .) -}}
{{- if eq .Values.webhooks.certificates "cert-manager" -}}
{{- $_ := set $config "webhookCert" "/etc/shoot-flux/certificates/tls.crt" -}}
{{- $_ := set $config "webhookKey" "/etc/shoot-flux/certificates/tls.key" -}}
{{- $_ := set $config "webhookCa" "/etc/shoot-flux/certificates/ca.crt" -}}
{{- else -}}
{{- $_ := set $config "webhookHost" (list (include "shoot-flux.webhooks.host" .)) -}}
{{- $_ := set $config "webhookSecret" (printf "in-cluster:%s/%s" .Release.Namespace (include "shoot-flux.webhooks.secretName" .)) -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{/* "true" where the watcher takes a role of AWS with the token of its ServiceAccount. */}}
{{- define "shoot-flux.usesWebIdentity" -}}
{{- if and (eq .Values.mode "bridge-sqs") .Values.sqs.roleArn }}true{{ end -}}
{{- end -}}

{{/*
Environment variables of a container: `include … (dict "root" $ "own" list)`, with those that it alone has. gardenlet
adds SEED_NAME, or SHOOT_NAME in a self-hosted Shoot, and GARDEN_KUBECONFIG where it is missing.
*/}}
{{- define "shoot-flux.environment" -}}
{{- $env := .own -}}
{{- if include "shoot-flux.hasGardenAccount" .root -}}
{{- $env = append $env (dict "name" "GARDEN_KUBECONFIG" "value" (printf "%s/kubeconfig" (include "shoot-flux.gardenAccess.folder" .root))) -}}
{{- end -}}
{{- $env = concat $env .root.Values.env -}}
{{- if $env }}{{ toYaml $env }}{{ end -}}
{{- end -}}

{{/* Environment variables for queues in SQS, as a list. */}}
{{- define "shoot-flux.queueEnvironment" -}}
{{- $env := list -}}
{{- if eq .Values.mode "bridge-sqs" -}}
{{- with .Values.sqs.region }}{{ $env = append $env (dict "name" "AWS_REGION" "value" .) }}{{ end -}}
{{- if .Values.sqs.roleArn -}}
{{- $env = append $env (dict "name" "AWS_ROLE_ARN" "value" .Values.sqs.roleArn) -}}
{{- $env = append $env (dict "name" "AWS_WEB_IDENTITY_TOKEN_FILE" "value" "/var/run/secrets/shoot-flux/aws/token") -}}
{{- end -}}
{{- with .Values.sqs.credentialsSecretName -}}
{{- $secret := . -}}
{{- range list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" -}}
{{- $env = append $env (dict "name" . "valueFrom" (dict "secretKeyRef" (dict "name" $secret "key" .))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml $env -}}
{{- end -}}

<?php

declare(strict_types=1);

namespace Bursar;

/** Webhooks by Standard Webhooks: verifies those that the service sends, and signs some for tests. */
final class Webhook
{
    /** Seconds by which a webhook's timestamp may be off, in either direction. */
    public const TOLERANCE = 300;

    /**
     * Verifies a webhook and returns its event.
     *
     * secret is the account's, 'whsec_…'; body is the request's, byte for byte as received; now is the time in
     * seconds since 1970, by default this machine's. While the secret is rotated there is a signature of each: one
     * valid signature is enough. Signatures are compared in constant time, and nothing of the body is parsed before. An
     * event may come several times: process each eventID once.
     *
     * @param array<string, string|list<string>> $headers by their names; see headers
     * @return array<string, mixed>
     * @throws WebhookError
     */
    public static function verify(
        #[\SensitiveParameter]
        string $secret,
        array $headers,
        string $body,
        ?int $now = null
    ): array {
        $key = self::key($secret);
        $id = self::one($headers, 'webhook-id');
        $stamp = self::one($headers, 'webhook-timestamp');
        $signatures = self::one($headers, 'webhook-signature');
        if ($id === '' || $signatures === '' || !preg_match('/^\d{1,15}$/D', $stamp)) {
            throw new WebhookError(
                'headers',
                'webhook-id, webhook-timestamp or webhook-signature is missing or malformed'
            );
        }
        if (abs((int) $stamp - ($now ?? time())) > self::TOLERANCE) {
            throw new WebhookError('timestamp', "the webhook's timestamp is too far from now");
        }
        $want = self::mac($key, $id, $stamp, $body);
        $valid = false;
        foreach (preg_split('/\s+/', $signatures) as $signature) {
            $valid = hash_equals('v1,' . $want, $signature) || $valid;
        }
        if (!$valid) {
            throw new WebhookError('signature', 'no signature of the webhook is valid');
        }
        $event = json_decode($body, true, 512, JSON_BIGINT_AS_STRING)['response']['webhook'] ?? null;
        if (!is_array($event) || !is_string($event['eventID'] ?? null)) {
            throw new WebhookError('body', 'the webhook is no event');
        }
        return $event;
    }

    /**
     * Returns the headers of a request from $_SERVER, where a web server leaves them.
     *
     * @param array<string, mixed> $server
     * @return array<string, string>
     */
    public static function headers(array $server): array
    {
        $headers = [];
        foreach (['id', 'timestamp', 'signature'] as $name) {
            $value = $server['HTTP_WEBHOOK_' . strtoupper($name)] ?? null;
            if (is_string($value)) {
                $headers["webhook-$name"] = $value;
            }
        }
        return $headers;
    }

    /**
     * Returns the headers and the body with which the service would send an event, for tests of a receiver.
     *
     * @param array<string, mixed> $event
     * @return array{array<string, string>, string}
     */
    public static function sign(
        #[\SensitiveParameter]
        string $secret,
        array $event,
        ?int $at = null
    ): array {
        $body = json_encode(['success' => true, 'response' => ['webhook' => $event]], JSON_THROW_ON_ERROR);
        $stamp = (string) ($at ?? time());
        $headers = [
            'content-type' => 'application/json',
            'webhook-id' => $event['eventID'],
            'webhook-timestamp' => $stamp,
            'webhook-signature' => 'v1,' . self::mac(self::key($secret), $event['eventID'], $stamp, $body),
        ];
        return [$headers, $body];
    }

    private static function mac(
        #[\SensitiveParameter]
        string $key,
        string $id,
        string $stamp,
        string $body
    ): string {
        return base64_encode(hash_hmac('sha256', "$id.$stamp.$body", $key, true));
    }

    /** Decodes a secret. An empty key is refused: anybody could sign with it. */
    private static function key(
        #[\SensitiveParameter]
        string $secret
    ): string {
        $text = substr($secret, 6);
        $key = base64_decode($text, true);
        if (strncmp($secret, 'whsec_', 6) !== 0 || $key === false || $key === '' || base64_encode($key) !== $text) {
            throw new WebhookError('secret', 'the webhook secret is not whsec_ and base64');
        }
        return $key;
    }

    /**
     * Returns the value of a header that is there exactly once, else ''.
     *
     * @param array<string, string|list<string>> $headers
     */
    private static function one(array $headers, string $name): string
    {
        $found = [];
        foreach ($headers as $given => $value) {
            if (strtolower((string) $given) === $name) {
                $found = array_merge($found, array_values((array) $value));
            }
        }
        return count($found) === 1 && is_string($found[0]) ? $found[0] : '';
    }
}

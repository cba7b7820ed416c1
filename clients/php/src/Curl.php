<?php

declare(strict_types=1);

namespace Bursar;

/** The transport that is used unless another is given: one exchange by curl. */
final class Curl
{
    /** Bytes: a thousand deposits with the longest metadata are far smaller. */
    private const MAX_ANSWER = 64 << 20;

    /**
     * Returns the status, the headers by their names in lower case, and the body.
     *
     * @param array<string, string> $headers
     * @return array{int, array<string, string>, string}
     * @throws NoResponse
     */
    public static function exchange(
        string $method,
        string $url,
        #[\SensitiveParameter]
        array $headers,
        ?string $body,
        float $timeout
    ): array {
        [$got, $text] = [[], ''];
        $settings = [
            CURLOPT_CUSTOMREQUEST => $method,
            CURLOPT_FOLLOWLOCATION => false, // a redirect is an answer like any other: keys go to this service only
            CURLOPT_NOSIGNAL => true,
            CURLOPT_TIMEOUT_MS => (int) ceil($timeout * 1000),
            CURLOPT_HTTPHEADER => self::lines($headers),
            CURLOPT_HEADERFUNCTION => static function ($_, string $line) use (&$got): int {
                self::read($line, $got);
                return strlen($line);
            },
            CURLOPT_WRITEFUNCTION => static function ($_, string $part) use (&$text): int {
                $text .= $part;
                return strlen($text) > self::MAX_ANSWER ? 0 : strlen($part); // 0 ends the exchange
            },
        ];
        if ($body !== null) {
            $settings[CURLOPT_POSTFIELDS] = $body;
        }
        $handle = curl_init($url);
        curl_setopt_array($handle, $settings);
        if (curl_exec($handle) === false) {
            throw new NoResponse("$method " . explode('?', $url)[0] . ': ' . curl_error($handle));
        }
        return [(int) curl_getinfo($handle, CURLINFO_RESPONSE_CODE), $got, $text];
    }

    /**
     * @param array<string, string> $headers
     * @return list<string>
     */
    private static function lines(
        #[\SensitiveParameter]
        array $headers
    ): array {
        $lines = ['Expect:']; // do not wait for a 100
        foreach ($headers as $name => $value) {
            $lines[] = "$name: $value";
        }
        return $lines;
    }

    /** @param array<string, string> $got */
    private static function read(string $line, array &$got): void
    {
        if (strncmp($line, 'HTTP/', 5) === 0) {
            $got = []; // those of a response before this one, such as a proxy's
        }
        $parts = explode(':', $line, 2);
        if (count($parts) === 2) {
            $got[strtolower(trim($parts[0]))] = trim($parts[1]);
        }
    }
}

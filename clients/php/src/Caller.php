<?php

declare(strict_types=1);

namespace Bursar;

use DateTimeImmutable;
use InvalidArgumentException;
use LogicException;

/** Sends requests to one service, as one account. */
class Caller
{
    /** Seconds after the first attempt; each next pause is twice as long. */
    private const FIRST_PAUSE = 0.25;

    /** Statuses after which the next attempt may succeed. */
    private const PASSING = [429, 502, 503, 504];

    private const OPTIONS = ['idempotencyKey', 'signature', 'created', 'maxFee', 'currency'];

    private const DEFAULTS = [
        'secret' => '',
        'attempts' => 4,
        'maxWait' => 30,
        'timeout' => 60,
        'orders' => null,
        'transport' => [Curl::class, 'exchange'],
        'sleep' => null,
    ];

    /** @var array<string, mixed> */
    private $config;

    /** @var string */
    private $base;

    /**
     * baseURL is such as https://pay.example, without /api/v1. The secret is sent with withdrawals only. attempts,
     * maxWait and timeout (seconds) bound each call: a longer Retry-After than maxWait ends it. With orders, each
     * withdrawal is signed. transport and sleep replace the network and the clock in tests.
     *
     * @param array{
     *     baseURL: string,
     *     key: string,
     *     secret?: string,
     *     attempts?: int,
     *     maxWait?: float,
     *     timeout?: float,
     *     orders?: Orders|null,
     *     transport?: callable(string, string, array<string, string>, string|null, float): array,
     *     sleep?: callable(float): void,
     * } $config
     */
    public function __construct(
        #[\SensitiveParameter]
        array $config
    ) {
        $unknown = array_diff_key($config, self::DEFAULTS, ['baseURL' => 0, 'key' => 0]);
        if ($unknown !== []) {
            throw new InvalidArgumentException('no setting of a client: ' . implode(', ', array_keys($unknown)));
        }
        $base = $config['baseURL'] ?? '';
        $parts = parse_url($base);
        $whole = is_array($parts) && in_array(strtolower($parts['scheme'] ?? ''), ['http', 'https'], true)
            && ($parts['host'] ?? '') !== '' && !isset($parts['user']) && !isset($parts['pass']);
        if (!$whole || preg_match('/[?#@\s]/', $base)) {
            throw new InvalidArgumentException(
                'baseURL must be an http or https URL without user, query and fragment'
            );
        }
        $this->config = $config + self::DEFAULTS;
        foreach (['key', 'secret'] as $name) {
            if (preg_match('/[^!-~]/', $this->config[$name] ?? '')) {
                throw new InvalidArgumentException("$name has a character that no $name has");
            }
        }
        if (($config['key'] ?? '') === '') {
            throw new InvalidArgumentException('key is empty');
        }
        if (!($this->config['attempts'] >= 1 && $this->config['maxWait'] >= 0 && $this->config['timeout'] > 0)) {
            throw new InvalidArgumentException('attempts, maxWait and timeout must be above zero');
        }
        $this->base = rtrim($base, '/') . '/api/v1/';
    }

    /**
     * Sends a request, repeats it where that may help, and returns its response.
     *
     * Every attempt may be repeated: reading changes nothing, and a change has one Idempotency-Key in all of them.
     *
     * @param array<string, mixed> $values
     * @param array<string, mixed> $options
     * @return array<string, mixed>
     * @throws BursarError
     * @throws NoResponse
     */
    protected function call(string $name, array $values = [], array $options = []): array
    {
        [$method, $path, $secret, $known] = Endpoints::ALL[$name];
        $other = array_diff(array_keys($options), self::OPTIONS);
        if ($other !== []) { // an idempotencyKey by another name would be a second payment
            throw new InvalidArgumentException('no option of a call: ' . implode(', ', $other));
        }
        $sent = Values::checked($values, $known);
        $url = $this->base . $path;
        $headers = ['X-API-KEY' => $this->config['key'], 'Accept' => 'application/json'];
        $key = '';
        $body = null;
        if ($method === 'GET') {
            $url .= $sent === [] ? '' : '?' . http_build_query(Values::texts($sent), '', '&', PHP_QUERY_RFC3986);
        } else {
            $key = (string) ($options['idempotencyKey'] ?? '');
            $key = $key === '' ? self::drawKey() : $key; // '0' is a key too
            $body = Values::json($sent);
            $headers += ['Content-Type' => 'application/json', 'Idempotency-Key' => $key];
        }
        if ($secret && $this->config['secret'] !== '') {
            $headers['X-API-SECRET'] = $this->config['secret'];
        }
        if (($options['signature'] ?? '') !== '') {
            $headers['Bursar-Signature'] = $options['signature'];
        }
        foreach (['Idempotency-Key', 'Bursar-Signature'] as $header) {
            if (preg_match('/[^ -~]/', $headers[$header] ?? '')) {
                throw new InvalidArgumentException("$header has a character that no header has");
            }
        }
        try {
            return $this->insist($method, $url, $headers, $body);
        } catch (BursarError | NoResponse $failed) {
            $failed->idempotencyKey = $key;
            throw $failed;
        }
    }

    /** Returns a random idempotency key. */
    protected static function drawKey(): string
    {
        return 'php-' . bin2hex(random_bytes(16));
    }

    /** Returns what signs the orders of this account, null where nothing does. */
    protected function orders(): ?Orders
    {
        return $this->config['orders'];
    }

    /**
     * @param array<string, string> $headers
     * @return array<string, mixed>
     */
    private function insist(
        string $method,
        string $url,
        #[\SensitiveParameter]
        array $headers,
        ?string $body
    ): array {
        $longest = (float) $this->config['maxWait'];
        for ($attempt = 1, $pause = self::FIRST_PAUSE;; $attempt++, $pause *= 2) {
            $wait = min($pause, $longest) * random_int(500, 1000) / 1000;
            try {
                return $this->once($method, $url, $headers, $body);
            } catch (BursarError $failed) {
                $wait = $failed->retryAfter ?: $wait;
                if (!in_array($failed->status, self::PASSING, true) || $wait > $longest) {
                    throw $failed;
                }
            } catch (NoResponse $failed) {
                // its outcome is not known: the next attempt has the same key
            }
            if ($attempt >= $this->config['attempts']) {
                throw $failed;
            }
            $this->pause($wait);
        }
    }

    private function pause(float $seconds): void
    {
        if ($this->config['sleep'] !== null) {
            ($this->config['sleep'])($seconds);
            return;
        }
        usleep((int) ceil($seconds * 1e6));
    }

    /**
     * @param array<string, string> $headers
     * @return array<string, mixed>
     */
    private function once(
        string $method,
        string $url,
        #[\SensitiveParameter]
        array $headers,
        ?string $body
    ): array {
        [$status, $got, $text] = ($this->config['transport'])($method, $url, $headers, $body, $this->config['timeout']);
        $got = array_change_key_case($got);
        if ($status === 200 && strpos($got['content-type'] ?? '', 'text/csv') === 0) {
            return ['csv' => $text, 'nextCursor' => $got['bursar-next-cursor'] ?? ''];
        }
        $whole = json_decode($text, true, 512, JSON_BIGINT_AS_STRING);
        $success = is_array($whole) ? ($whole['success'] ?? null) : null;
        if ($status === 200 && $success === true && is_array($whole['response'] ?? null)) {
            return $whole['response'];
        }
        $said = $success === false && is_array($whole['error'] ?? null)
            ? $whole['error'] : ['message' => 'the response is not from this service'];
        throw new BursarError($status, $said, $got['x-request-id'] ?? '', self::retryAfter($got));
    }

    /**
     * Reads a number of seconds, or a date, which proxies may send, by the response's own clock.
     *
     * @param array<string, string> $headers
     */
    private static function retryAfter(array $headers): float
    {
        $value = $headers['retry-after'] ?? '';
        if (preg_match('/^\d{1,9}$/D', $value)) {
            return (float) $value;
        }
        $until = DateTimeImmutable::createFromFormat(DATE_RFC7231, $value);
        $now = DateTimeImmutable::createFromFormat(DATE_RFC7231, $headers['date'] ?? '');
        return $until && $now ? (float) max(0, $until->getTimestamp() - $now->getTimestamp()) : 0.0;
    }

    /** Shows no key. */
    public function __debugInfo(): array
    {
        return ['service' => $this->base];
    }

    /** A client has keys, which nobody stores by mistake. */
    public function __serialize(): array
    {
        throw new LogicException('a client is not stored');
    }
}

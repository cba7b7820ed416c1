<?php

declare(strict_types=1);

namespace Bursar;

use DateTimeImmutable;
use DateTimeInterface;
use DateTimeZone;
use InvalidArgumentException;
use JsonException;

/** The parameters of a request: what is checked before they are sent, and how they are written. */
final class Values
{
    /**
     * Returns the parameters that are set, as JSON has them. A float is refused, because it is not the amount that was
     * written, and so is a name that the endpoint does not have.
     *
     * @param array<string, mixed> $values
     * @param list<string> $known
     * @return array<string, mixed>
     */
    public static function checked(array $values, array $known): array
    {
        $unknown = array_diff(array_map('strval', array_keys($values)), $known);
        if ($unknown !== []) {
            throw new InvalidArgumentException('no parameter of this call: ' . implode(', ', $unknown));
        }
        $sent = [];
        foreach ($values as $name => $value) {
            if ($value !== null) {
                $sent[$name] = self::plain($name, $value);
            }
        }
        return $sent;
    }

    /**
     * Writes the body of a change.
     *
     * @param array<string, mixed> $sent
     */
    public static function json(array $sent): string
    {
        try {
            return json_encode((object) $sent, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
        } catch (JsonException $broken) {
            throw new InvalidArgumentException('a parameter is no text in UTF-8', 0, $broken);
        }
    }

    /**
     * Returns values as a query has them.
     *
     * @param array<string, mixed> $sent
     * @return array<string, string>
     */
    public static function texts(array $sent): array
    {
        return array_map(static function ($value): string {
            return is_bool($value) ? ($value ? 'true' : 'false') : (string) $value;
        }, $sent);
    }

    /**
     * @param mixed $value
     * @return mixed
     */
    private static function plain(string $name, $value)
    {
        if ($value instanceof DateTimeInterface) {
            return (new DateTimeImmutable('@' . $value->format('U.u')))
                ->setTimezone(new DateTimeZone('UTC'))->format('Y-m-d\TH:i:s.u\Z');
        }
        if (is_array($value)) {
            return self::several($name, $value);
        }
        if (!is_string($value) && !is_int($value) && !is_bool($value)) {
            throw new InvalidArgumentException("$name is a " . gettype($value) . ': send text, an amount too');
        }
        return $value;
    }

    /**
     * A list of texts becomes one text with commas; metadata stays an object when it is empty.
     *
     * @param array<int|string, mixed> $value
     * @return mixed
     */
    private static function several(string $name, array $value)
    {
        if ($name !== 'metadata' && $value === array_filter($value, 'is_string') && array_values($value) === $value) {
            return implode(',', $value);
        }
        $inner = [];
        foreach ($value as $at => $item) {
            if ($item !== null) {
                $inner[$at] = self::plain(is_int($at) ? $name : (string) $at, $item);
            }
        }
        return $name === 'metadata' ? (object) $inner : $inner;
    }
}

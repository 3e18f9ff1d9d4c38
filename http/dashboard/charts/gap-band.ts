// Series that fills the area between two prices. The part of the area where the gap exceeds the fees has its own color.

import {
  type CustomData,
  type CustomSeriesOptions,
  type CustomSeriesPricePlotValues,
  type CustomSeriesWhitespaceData,
  customSeriesDefaultOptions,
  type ICustomSeriesPaneRenderer,
  type ICustomSeriesPaneView,
  type PaneRendererCustomData,
  type Time,
} from 'lightweight-charts'

export interface BandPoint extends CustomData<Time> {
  readonly own: number
  readonly other: number
  readonly isAboveFees: boolean
}

interface BandOptions extends CustomSeriesOptions {
  readonly below: string
  readonly above: string
}

export class GapBand implements ICustomSeriesPaneView<Time, BandPoint, BandOptions> {
  #data: PaneRendererCustomData<Time, BandPoint> | null = null
  #options = this.defaultOptions()

  update(data: PaneRendererCustomData<Time, BandPoint>, options: BandOptions): void {
    this.#data = data
    this.#options = options
  }

  renderer(): ICustomSeriesPaneRenderer {
    return {
      draw: (target, toY) => {
        const { bars = [], visibleRange = null } = this.#data ?? {}
        if (visibleRange === null) return
        target.useBitmapCoordinateSpace(
          ({ context, horizontalPixelRatio: wide, verticalPixelRatio: high }) => {
            for (let index = visibleRange.from; index < visibleRange.to - 1; index += 1) {
              const [from, to] = [bars[index], bars[index + 1]]
              if (from === undefined || to === undefined) continue
              const { own, other, isAboveFees } = from.originalData
              const corners = [
                [from.x, toY(own)] as const,
                [to.x, toY(to.originalData.own)] as const,
                [to.x, toY(to.originalData.other)] as const,
                [from.x, toY(other)] as const,
              ]
              context.beginPath()
              for (const [x, y] of corners) context.lineTo(x * wide, (y ?? 0) * high)
              context.fillStyle = isAboveFees ? this.#options.above : this.#options.below
              context.fill()
            }
          },
        )
      },
    }
  }

  priceValueBuilder({ own, other }: BandPoint): CustomSeriesPricePlotValues {
    return [own, other]
  }

  isWhitespace(
    data: BandPoint | CustomSeriesWhitespaceData<Time>,
  ): data is CustomSeriesWhitespaceData<Time> {
    return !('own' in data)
  }

  defaultOptions(): BandOptions {
    return { ...customSeriesDefaultOptions, below: 'transparent', above: 'transparent' }
  }
}

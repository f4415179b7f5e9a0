/// The languages with a code of two letters (ISO 639-1).
package enum LanguageTable {
    /// Codes of two letters by codes of three letters (ISO 639-2), terminological and bibliographic ones.
    package static let shortCodes: [String: String] = Dictionary(
        rows.flatMap { row in row.codes.map { ($0, row.short) } }, uniquingKeysWith: { first, _ in first })

    /// English names by codes of two letters.
    package static let names: [String: String] = Dictionary(
        rows.map { ($0.short, $0.name) }, uniquingKeysWith: { first, _ in first })

    /// Returns all codes of a language by one of them: terminological, bibliographic if different, of two letters; nil for
    /// other languages.
    package static func codes(of code: String) -> [String]? { codes[code] }

    private static let codes: [String: [String]] = Dictionary(
        rows.flatMap { row in (row.codes + [row.short]).map { ($0, row.codes + [row.short]) } },
        uniquingKeysWith: { first, _ in first })

    private static let rows: [(short: String, codes: [String], name: String)] =
        table.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " ", maxSplits: 2)
            guard parts.count == 3 else { return nil }
            return (String(parts[0]), parts[1].split(separator: "/").map(String.init), String(parts[2]))
        }

    /// A line for each language: the code of two letters, the codes of three letters, the name.
    private static let table = """
        aa aar Afar
        ab abk Abkhazian
        ae ave Avestan
        af afr Afrikaans
        ak aka Akan
        am amh Amharic
        an arg Aragonese
        ar ara Arabic
        as asm Assamese
        av ava Avaric
        ay aym Aymara
        az aze Azerbaijani
        ba bak Bashkir
        be bel Belarusian
        bg bul Bulgarian
        bi bis Bislama
        bm bam Bambara
        bn ben Bengali
        bo bod/tib Tibetan
        br bre Breton
        bs bos Bosnian
        ca cat Catalan
        ce che Chechen
        ch cha Chamorro
        co cos Corsican
        cr cre Cree
        cs ces/cze Czech
        cu chu Church Slavic
        cv chv Chuvash
        cy cym/wel Welsh
        da dan Danish
        de deu/ger German
        dv div Divehi
        dz dzo Dzongkha
        ee ewe Ewe
        el ell/gre Greek
        en eng English
        eo epo Esperanto
        es spa Spanish
        et est Estonian
        eu eus/baq Basque
        fa fas/per Persian
        ff ful Fulah
        fi fin Finnish
        fj fij Fijian
        fo fao Faroese
        fr fra/fre French
        fy fry Western Frisian
        ga gle Irish
        gd gla Scottish Gaelic
        gl glg Galician
        gn grn Guarani
        gu guj Gujarati
        gv glv Manx
        ha hau Hausa
        he heb Hebrew
        hi hin Hindi
        ho hmo Hiri Motu
        hr hrv Croatian
        ht hat Haitian
        hu hun Hungarian
        hy hye/arm Armenian
        hz her Herero
        ia ina Interlingua
        id ind Indonesian
        ie ile Interlingue
        ig ibo Igbo
        ii iii Sichuan Yi
        ik ipk Inupiaq
        io ido Ido
        is isl/ice Icelandic
        it ita Italian
        iu iku Inuktitut
        ja jpn Japanese
        jv jav Javanese
        ka kat/geo Georgian
        kg kon Kongo
        ki kik Kikuyu
        kj kua Kuanyama
        kk kaz Kazakh
        kl kal Greenlandic
        km khm Khmer
        kn kan Kannada
        ko kor Korean
        kr kau Kanuri
        ks kas Kashmiri
        ku kur Kurdish
        kv kom Komi
        kw cor Cornish
        ky kir Kyrgyz
        la lat Latin
        lb ltz Luxembourgish
        lg lug Ganda
        li lim Limburgish
        ln lin Lingala
        lo lao Lao
        lt lit Lithuanian
        lu lub Luba-Katanga
        lv lav Latvian
        mg mlg Malagasy
        mh mah Marshallese
        mi mri/mao Maori
        mk mkd/mac Macedonian
        ml mal Malayalam
        mn mon Mongolian
        mr mar Marathi
        ms msa/may Malay
        mt mlt Maltese
        my mya/bur Burmese
        na nau Nauru
        nb nob Norwegian Bokmål
        nd nde North Ndebele
        ne nep Nepali
        ng ndo Ndonga
        nl nld/dut Dutch
        nn nno Norwegian Nynorsk
        no nor Norwegian
        nr nbl South Ndebele
        nv nav Navajo
        ny nya Nyanja
        oc oci Occitan
        oj oji Ojibwa
        om orm Oromo
        or ori Odia
        os oss Ossetian
        pa pan Punjabi
        pi pli Pali
        pl pol Polish
        ps pus Pashto
        pt por Portuguese
        qu que Quechua
        rm roh Romansh
        rn run Rundi
        ro ron/rum Romanian
        ru rus Russian
        rw kin Kinyarwanda
        sa san Sanskrit
        sc srd Sardinian
        sd snd Sindhi
        se sme Northern Sami
        sg sag Sango
        si sin Sinhala
        sk slk/slo Slovak
        sl slv Slovenian
        sm smo Samoan
        sn sna Shona
        so som Somali
        sq sqi/alb Albanian
        sr srp Serbian
        ss ssw Swati
        st sot Southern Sotho
        su sun Sundanese
        sv swe Swedish
        sw swa Swahili
        ta tam Tamil
        te tel Telugu
        tg tgk Tajik
        th tha Thai
        ti tir Tigrinya
        tk tuk Turkmen
        tl tgl Tagalog
        tn tsn Tswana
        to ton Tongan
        tr tur Turkish
        ts tso Tsonga
        tt tat Tatar
        tw twi Twi
        ty tah Tahitian
        ug uig Uyghur
        uk ukr Ukrainian
        ur urd Urdu
        uz uzb Uzbek
        ve ven Venda
        vi vie Vietnamese
        vo vol Volapük
        wa wln Walloon
        wo wol Wolof
        xh xho Xhosa
        yi yid Yiddish
        yo yor Yoruba
        za zha Zhuang
        zh zho/chi Chinese
        zu zul Zulu
        """
}
